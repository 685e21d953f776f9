//! Flow monitors: a controller hears how flow entries change (since 1.4).

use crate::core::{Core, Outcome};
use flowgauge_clock::Nanos;
use flowgauge_datapath::rule::Rule;
use flowgauge_datapath::{Change, Cursor, Entry, Selection};
use flowgauge_openflow::{
    Body, ErrorCode, FlowEvent, FlowMonitorCommand, FlowMonitorFlags, FlowMonitorRequest, FlowRemovedReason,
    FlowStatsRequest, FlowUpdate, FlowUpdateFull, MultipartReply, PortNo, ReplyBody, TABLE_ALL, Version,
};
use std::collections::BTreeMap;

/// Monitors of one controller.
const MONITORS: usize = 256;
/// All flags that are known.
const KNOWN: u32 = 0x7f;
/// Transaction id of what is told unasked.
const UNASKED: u32 = 0;

/// The monitors of one controller.
#[derive(Debug, Default)]
pub struct Monitors {
    by_id: BTreeMap<u32, Monitor>,
    /// Whether it has been told that nothing is told for now.
    is_paused: bool,
}

/// What a controller wants to hear of.
#[derive(Debug)]
struct Monitor {
    request: FlowMonitorRequest,
    selection: Selection,
}

/// Who and what brought changes about.
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    /// The controller that asked for it, and its request's transaction id.
    pub request: Option<(usize, u32)>,
    /// Why entries went.
    pub reason: Option<FlowRemovedReason>,
}

impl Monitor {
    fn has(&self, flag: FlowMonitorFlags) -> bool {
        self.request.flags.contains(flag)
    }

    fn means(&self, table_id: u8, rule: &Rule, entry: &Entry) -> bool {
        (self.request.table_id == TABLE_ALL || self.request.table_id == table_id)
            && self.selection.rule.covers(rule)
            && self.selection.accepts(entry)
    }

    /// What a change means to it, if anything.
    fn event(&self, change: &Change<'_>) -> Option<(FlowEvent, FlowMonitorFlags)> {
        let meant =
            |entry: Option<&Entry>| entry.is_some_and(|e| self.means(change.table_id, change.rule, e));
        let event = match (meant(change.before), meant(change.now)) {
            (false, false) => return None,
            (false, true) => (FlowEvent::Added, FlowMonitorFlags::ADD),
            (true, false) => (FlowEvent::Removed, FlowMonitorFlags::REMOVED),
            (true, true) => (FlowEvent::Modified, FlowMonitorFlags::MODIFY),
        };
        self.has(event.1).then_some(event)
    }
}

impl Core {
    /// Adds, changes or deletes monitors, and tells of the entries that are there.
    ///
    /// # Errors
    /// A monitor that is there already, or isn't; anything about it that makes no sense.
    pub fn flow_monitor(&mut self, who: usize, xid: u32, requests: Vec<FlowMonitorRequest>) -> Outcome {
        let mut updates = Vec::new();
        for request in requests {
            let id = request.monitor_id;
            let is_there = self.controller(who).monitors.by_id.contains_key(&id);
            match request.command {
                FlowMonitorCommand::Add if is_there => return Err(ErrorCode::MonitorExists),
                FlowMonitorCommand::Modify | FlowMonitorCommand::Delete if !is_there => {
                    return Err(ErrorCode::MonitorUnknown);
                }
                FlowMonitorCommand::Unknown(_) => return Err(ErrorCode::MonitorBadCommand),
                FlowMonitorCommand::Delete => {
                    self.controller(who).monitors.by_id.remove(&id);
                }
                FlowMonitorCommand::Add | FlowMonitorCommand::Modify => {
                    let monitor = self.check_monitor(who, request)?;
                    if monitor.has(FlowMonitorFlags::INITIAL) {
                        updates.extend(self.entries_of(&monitor)?);
                    }
                    self.controller(who).monitors.by_id.insert(id, monitor);
                }
            }
        }
        self.watch_if_wanted();
        self.send_in_parts(who, xid, ReplyBody::FlowMonitor(updates))
    }

    fn check_monitor(&self, who: usize, request: FlowMonitorRequest) -> Result<Monitor, ErrorCode> {
        let tables = self.pipeline.tables().len();
        if request.flags.0 & !KNOWN != 0 {
            return Err(ErrorCode::MonitorBadFlags);
        }
        if request.table_id != TABLE_ALL && usize::from(request.table_id) >= tables {
            return Err(ErrorCode::MonitorBadTableId);
        }
        if request.out_port != PortNo::ANY && request.out_port.0 == 0 {
            return Err(ErrorCode::MonitorBadOut);
        }
        if self.outlet.controllers[who].monitors.by_id.len() >= MONITORS {
            return Err(ErrorCode::MonitorInvalid);
        }
        // Whether the match makes sense.
        let FlowMonitorRequest { table_id, match_, .. } = request.clone();
        let entries = FlowStatsRequest { table_id, match_, ..FlowStatsRequest::default() };
        self.pipeline.flow_query(&entries, Version::V1_4)?;
        let selection = Selection {
            rule: Rule::from(&request.match_),
            strict: None,
            cookie: 0,
            cookie_mask: 0,
            out_port: request.out_port,
            out_group: request.out_group,
        };
        Ok(Monitor { request, selection })
    }

    /// The entries that a monitor means.
    fn entries_of(&self, monitor: &Monitor) -> Result<Vec<FlowUpdate>, ErrorCode> {
        let FlowMonitorRequest { table_id, out_port, out_group, match_, .. } = monitor.request.clone();
        let wanted =
            FlowStatsRequest { table_id, out_port, out_group, match_, ..FlowStatsRequest::default() };
        let query = self.pipeline.flow_query(&wanted, Version::V1_4)?;
        let with_instructions = monitor.has(FlowMonitorFlags::INSTRUCTIONS);
        let (mut updates, mut from) = (Vec::new(), Some(Cursor::default()));
        while let Some(cursor) = from {
            from = self.pipeline.walk(&query, cursor, u32::MAX, |visited| {
                let (event, reason) = (FlowEvent::Initial, FlowRemovedReason::IdleTimeout);
                let place = (visited.table_id, visited.rule, visited.priority);
                let update = update(event, reason, place, visited.entry, with_instructions);
                updates.push(FlowUpdate::Full(update));
                true
            });
        }
        Ok(updates)
    }

    /// Notes changes as long as anybody wants to hear of them.
    pub fn watch_if_wanted(&mut self) {
        let is_wanted = self.outlet.controllers.iter().any(|c| !c.monitors.by_id.is_empty());
        if is_wanted != self.pipeline.is_watched() {
            self.pipeline.take_changes(|_| {});
            self.pipeline.watch(is_wanted);
        }
    }

    /// Tells of the changes since the last call.
    pub fn tell_changes(&mut self, cause: Cause) {
        let now = self.outlet.now;
        let mut told: Vec<Vec<FlowUpdate>> = Vec::new();
        let controllers = &self.outlet.controllers;
        told.resize_with(controllers.len(), Vec::new);
        self.pipeline.take_changes(|change| {
            for (who, updates) in told.iter_mut().enumerate() {
                let own = cause.request.filter(|&(asker, _)| asker == who).map(|(_, xid)| xid);
                let monitors = controllers[who].monitors.by_id.values();
                // An entry that several monitors mean is told once (1.4.1, 7.3.5.18).
                let best = monitors.filter_map(|m| told_by(m, change, cause, own, now)).max_by_key(rank);
                updates.extend(best.filter(|update| updates.last() != Some(update)));
            }
        });
        for (who, updates) in told.into_iter().enumerate() {
            if !updates.is_empty() {
                self.send_updates(who, updates);
            }
        }
    }

    /// Sends updates, unless the controller is behind: then it is told that there is a gap, and everything anew
    /// after it.
    fn send_updates(&mut self, who: usize, updates: Vec<FlowUpdate>) {
        let controller = &self.outlet.controllers[who];
        let (is_behind, was_paused) = (controller.is_behind(), controller.monitors.is_paused);
        let body = match (was_paused, is_behind) {
            (true, true) => return,
            (false, true) => vec![FlowUpdate::Paused],
            (false, false) => updates,
            (true, false) => {
                let monitors = controller.monitors.by_id.values();
                let mut all: Vec<_> = monitors.flat_map(|m| self.entries_of(m).unwrap_or_default()).collect();
                all.push(FlowUpdate::Resumed);
                all
            }
        };
        self.controller(who).monitors.is_paused = is_behind;
        for part in body.chunks(100) {
            let body = ReplyBody::FlowMonitor(part.to_vec());
            let reply = MultipartReply { more: false, body };
            self.controller(who).send(UNASKED, Body::MultipartReply(reply));
        }
    }
}

/// What a monitor tells its controller of a change; `own`: the controller's own request brought it about.
fn told_by(
    monitor: &Monitor,
    change: &Change<'_>,
    cause: Cause,
    own: Option<u32>,
    now: Nanos,
) -> Option<FlowUpdate> {
    let (event, _) = monitor.event(change)?;
    if own.is_none() && monitor.has(FlowMonitorFlags::ONLY_OWN) {
        return None;
    }
    if let Some(xid) = own.filter(|_| !monitor.has(FlowMonitorFlags::NO_ABBREV)) {
        return Some(FlowUpdate::Abbreviated { xid });
    }
    let entry = change.now.filter(|_| event != FlowEvent::Removed).or(change.before)?;
    let reason = cause.reason.unwrap_or_else(|| entry.overdue(now));
    let place = (change.table_id, change.rule, change.priority);
    let with_instructions = monitor.has(FlowMonitorFlags::INSTRUCTIONS);
    Some(FlowUpdate::Full(update(event, reason, place, entry, with_instructions)))
}

/// How much an update says.
fn rank(update: &FlowUpdate) -> usize {
    match update {
        FlowUpdate::Full(full) => 1 + full.instructions.len(),
        FlowUpdate::Abbreviated { .. }
        | FlowUpdate::Paused
        | FlowUpdate::Resumed
        | FlowUpdate::Unknown { .. } => 0,
    }
}

fn update(
    event: FlowEvent,
    reason: FlowRemovedReason,
    (table_id, rule, priority): (u8, &Rule, u16),
    entry: &Entry,
    with_instructions: bool,
) -> FlowUpdateFull {
    FlowUpdateFull {
        event,
        table_id,
        reason,
        idle_timeout: entry.idle_timeout,
        hard_timeout: entry.hard_timeout,
        priority,
        cookie: entry.cookie,
        match_: rule.into(),
        instructions: if with_instructions { entry.program.instructions().to_vec() } else { vec![] },
    }
}
