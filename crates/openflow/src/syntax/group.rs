//! Groups: `group_id=1,type=select,bucket=weight:100,watch_port:1,actions=output:1`.

use std::fmt;

use super::print::List;
use super::scan::Span;
use super::{Actions, SyntaxError, action, nicira, selection, value};
use crate::{
    BUCKET_ALL, BUCKET_FIRST, BUCKET_LAST, Bucket, GROUP_ALL, GROUP_ANY, GroupDesc, GroupMod,
    GroupModCommand, GroupType, PortNo, Property,
};

const COMMANDS: [(&str, GroupModCommand); 7] = [
    ("add", GroupModCommand::Add),
    ("modify", GroupModCommand::Modify),
    ("delete", GroupModCommand::Delete),
    ("insert_bucket", GroupModCommand::InsertBucket),
    ("insert_buckets", GroupModCommand::InsertBucket),
    ("remove_bucket", GroupModCommand::RemoveBucket),
    ("remove_buckets", GroupModCommand::RemoveBucket),
];

const TYPES: [(&str, GroupType); 6] = [
    ("all", GroupType::All),
    ("select", GroupType::Select),
    ("indirect", GroupType::Indirect),
    ("ff", GroupType::FastFailover),
    ("fast_failover", GroupType::FastFailover),
    ("fast-failover", GroupType::FastFailover),
];

/// Parses a group as `ovs-ofctl add-group` takes it, into a GROUP_MOD that adds it. A word before it, as in bundles,
/// says what else to do: `modify`, `delete`, `insert_bucket`, `remove_bucket` (or `add`).
///
/// # Errors
/// [`SyntaxError`] with the column of the first fault.
///
/// ```
/// let text = "group_id=7,type=ff,bucket=watch_port:1,actions=output:1,bucket=watch_port:2,actions=output:2";
/// let group = flowgauge_openflow::syntax::parse_group(text).unwrap();
/// assert_eq!((group.group_id, group.buckets.len()), (7, 2));
/// assert_eq!(group.to_string(), text);
/// ```
pub fn parse_group(text: &str) -> Result<GroupMod, SyntaxError> {
    let mut whole = Span::all(text).trim();
    whole = whole.strip_prefix("group ").map_or(whole, Span::trim);
    let end = whole.text.find([' ', ',', '\t']).unwrap_or(whole.text.len());
    let found = COMMANDS.iter().find(|(word, _)| *word == &whole.text[..end]);
    let command = found.map_or(GroupModCommand::Add, |(_, command)| *command);
    if let Some(rest) = found.and_then(|(word, _)| whole.strip_prefix(word)) {
        whole = rest.trim();
    }
    let mut parts = buckets(whole);
    let head = parts.remove(0);
    let mut group = GroupMod::new(command, GroupType::All, GROUP_ANY, Vec::new());
    let has_type = options(&mut group, head)?;
    let needs_type = matches!(command, GroupModCommand::Add | GroupModCommand::Modify);
    if group.group_id == GROUP_ANY {
        // Deleting without a number is deleting all.
        match command {
            GroupModCommand::Delete => group.group_id = GROUP_ALL,
            _ => return Err(head.expected("group_id=NUMBER")),
        }
    }
    if needs_type && !has_type {
        return Err(head.end().expected("type=all, select, indirect or ff"));
    }
    group.buckets = parts.into_iter().map(bucket).collect::<Result<_, _>>()?;
    if group.group_type == GroupType::Select {
        // Where nothing is said, a bucket of a select group has its share.
        group.buckets.iter_mut().filter(|b| b.weight == NO_WEIGHT).for_each(|b| b.weight = 1);
    }
    group.buckets.iter_mut().filter(|b| b.weight == NO_WEIGHT).for_each(|b| b.weight = 0);
    if command == GroupModCommand::InsertBucket && group.command_bucket_id == BUCKET_ALL {
        group.command_bucket_id = BUCKET_LAST;
    }
    Ok(group)
}

/// Stands for a weight that a text does not tell; none that is told is so large.
const NO_WEIGHT: u16 = 0xffff;

/// What stands before the first `bucket=`, then what stands behind each.
fn buckets(whole: Span<'_>) -> Vec<Span<'_>> {
    let (mut parts, mut rest) = (Vec::new(), whole);
    let mut from = 0;
    while let Some(at) = rest.text[from..].find("bucket=").map(|at| at + from) {
        let (before, behind) = rest.split_at(at);
        if before.end().follows_word() {
            from = at + 1;
            continue;
        }
        parts.push(before.trim_items());
        rest = behind.strip_prefix("bucket=").unwrap_or(behind);
        from = 0;
    }
    parts.push(rest.trim_items());
    parts
}

/// Takes the group's own keys; whether its type was among them.
fn options(group: &mut GroupMod, head: Span<'_>) -> Result<bool, SyntaxError> {
    let mut has_type = false;
    let mut method = selection::Method::default();
    for item in head.items()? {
        let (name, text) = item.name_and_argument();
        match name.text {
            "group_id" if text.text == "all" => group.group_id = GROUP_ALL,
            "group_id" => group.group_id = value::number(text, 0xffff_ff00)? as u32,
            "type" => {
                group.group_type = nicira::word(text, &TYPES)?;
                has_type = true;
            }
            "command_bucket_id" => group.command_bucket_id = bucket_id(text)?,
            _ if method.option(name, text)? => {}
            _ => return Err(item.expected("group_id, type, selection_method, command_bucket_id or bucket")),
        }
    }
    group.properties.extend(method.property());
    Ok(has_type)
}

fn bucket_id(text: Span<'_>) -> Result<u32, SyntaxError> {
    match text.text {
        "first" => Ok(BUCKET_FIRST),
        "last" => Ok(BUCKET_LAST),
        "all" => Ok(BUCKET_ALL),
        _ => value::number(text, 0xffff_ff00)
            .map(|n| n as u32)
            .map_err(|_| text.expected("a bucket's number, first, last or all")),
    }
}

/// What stands behind `bucket=`: keys, and actions of which only the first needs `actions=` before it.
fn bucket(text: Span<'_>) -> Result<Bucket, SyntaxError> {
    let mut bucket = Bucket::new(NO_WEIGHT, Vec::new());
    for item in text.items()? {
        let (name, argument) = item.name_and_argument();
        match name.text {
            "weight" => bucket.weight = value::number(argument, 0xfffe)? as u16,
            "watch_port" => bucket.watch_port = value::port(argument)?,
            "watch_group" => bucket.watch_group = value::number(argument, 0xffff_ff00)? as u32,
            "bucket_id" => bucket.bucket_id = Some(value::number(argument, 0xffff_ff00)? as u32),
            "actions" | "action" => bucket.actions.extend(action::list(argument)?),
            _ => bucket.actions.extend(action::one(item)?),
        }
    }
    Ok(bucket)
}

impl fmt::Display for GroupMod {
    /// As a line of `ovs-ofctl bundle` without its first word `group`: `add` is left out, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = COMMANDS.iter().find(|(_, command)| *command == self.command);
        let word = found.map_or("unknown_command", |(word, _)| word);
        if self.command != GroupModCommand::Add {
            write!(f, "{word} ")?;
        }
        let changes = matches!(self.command, GroupModCommand::Add | GroupModCommand::Modify);
        let group_type = if changes { Some(self.group_type) } else { None };
        let mut list = List { f, empty: true };
        head(&mut list, self.group_id, group_type)?;
        if self.command_bucket_id != BUCKET_ALL || self.command == GroupModCommand::RemoveBucket {
            list.item(format_args!("command_bucket_id={}", BucketId(self.command_bucket_id)))?;
        }
        rest(&mut list, self.group_type, &self.properties, &self.buckets)
    }
}

/// What a GROUP_MOD says of its group, with or without the type.
pub(super) struct Content<'a> {
    pub group: &'a GroupMod,
    pub has_type: bool,
}

impl fmt::Display for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Content { group, has_type } = self;
        let mut list = List { f, empty: true };
        head(&mut list, group.group_id, has_type.then_some(group.group_type))?;
        rest(&mut list, group.group_type, &group.properties, &group.buckets)
    }
}

impl fmt::Display for GroupDesc {
    /// As `ovs-ofctl dump-groups` prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = List { f, empty: true };
        head(&mut list, self.group_id, Some(self.group_type))?;
        rest(&mut list, self.group_type, &self.properties, &self.buckets)
    }
}

fn head(list: &mut List<'_, '_>, group_id: u32, group_type: Option<GroupType>) -> fmt::Result {
    match group_id {
        GROUP_ALL => list.item("group_id=all")?,
        id => list.item(format_args!("group_id={id}"))?,
    }
    match group_type {
        Some(group_type) => {
            let found = TYPES.iter().find(|(_, t)| *t == group_type);
            match found {
                Some((name, _)) => list.item(format_args!("type={name}")),
                None => list.item(format_args!("type={}", group_type.code())),
            }
        }
        None => Ok(()),
    }
}

fn rest(
    list: &mut List<'_, '_>,
    group_type: GroupType,
    properties: &[Property],
    buckets: &[Bucket],
) -> fmt::Result {
    for property in properties {
        selection::print(property, list)?;
    }
    buckets.iter().try_for_each(|bucket| list.item(format_args!("bucket={}", Printed { bucket, group_type })))
}

/// A bucket of a group of that type: weights that mean nothing there are left out.
struct Printed<'a> {
    bucket: &'a Bucket,
    group_type: GroupType,
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bucket { weight, watch_port, watch_group, actions, bucket_id, .. } = self.bucket;
        if let Some(id) = bucket_id {
            write!(f, "bucket_id:{id},")?;
        }
        if *weight != (self.group_type == GroupType::Select) as u16 {
            write!(f, "weight:{weight},")?;
        }
        if *watch_port != PortNo::ANY {
            write!(f, "watch_port:{watch_port},")?;
        }
        if *watch_group != GROUP_ANY {
            write!(f, "watch_group:{watch_group},")?;
        }
        write!(f, "actions={}", Actions(actions))
    }
}

/// A bucket's number or what stands for several.
pub(super) struct BucketId(pub u32);

impl fmt::Display for BucketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            BUCKET_FIRST => f.write_str("first"),
            BUCKET_LAST => f.write_str("last"),
            BUCKET_ALL => f.write_str("all"),
            id => write!(f, "{id}"),
        }
    }
}
