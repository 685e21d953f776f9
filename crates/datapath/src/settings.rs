//! A table's configuration (1.4): which entries it evicts when it is full, and when it tells how full it is.

use crate::table::Entry;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    ErrorCode, EvictionFlags, TableConfig, TableDesc, TableMod, TableStatusReason, Vacancy, Version,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What makes an entry go before others: least importance, then least time left, then least age. What the table
/// doesn't look at is the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    importance: u16,
    deadline: Nanos,
    serial: u32,
}

impl Candidate {
    /// How an entry stands.
    pub fn of(entry: &Entry, by: EvictionFlags) -> Candidate {
        let by_importance = by.contains(EvictionFlags::IMPORTANCE);
        let by_lifetime = by.contains(EvictionFlags::LIFETIME);
        let deadline = entry.deadline().filter(|_| by_lifetime).map_or(Nanos(u64::MAX), |(at, _)| at);
        Candidate {
            importance: if by_importance { entry.importance } else { 0 },
            deadline,
            serial: entry.serial,
        }
    }
}

/// A table's configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    config: TableConfig,
    /// What it looks at when it evicts.
    pub eviction: EvictionFlags,
    vacancy: Vacancy,
    /// The event that comes next: there is room, or there isn't.
    next: TableStatusReason,
    /// Entries by how soon they are evicted; made when the first is. Like deadlines, those of entries that are
    /// gone are recognised when they come up, and those of entries in use only ever come up too early.
    candidates: Option<BinaryHeap<Reverse<(Candidate, u32)>>>,
}

const BOTH: EvictionFlags = EvictionFlags(EvictionFlags::IMPORTANCE.0 | EvictionFlags::LIFETIME.0);
/// Bits that 1.1 defined, and that mean nothing since.
const DEPRECATED: u32 = 3;

impl Default for Settings {
    fn default() -> Self {
        Settings {
            config: TableConfig::NONE,
            eviction: BOTH,
            vacancy: Vacancy::default(),
            next: TableStatusReason::VacancyDown,
            candidates: None,
        }
    }
}

impl Settings {
    /// Whether a full table makes room.
    pub fn evicts(&self) -> bool {
        self.config.contains(TableConfig::EVICTION)
    }

    /// Takes a TABLE_MOD that has been found sound; `room` is what is left, in percent.
    pub fn set(&mut self, request: &TableMod, room: u8) {
        self.config = TableConfig(request.config.0 & !DEPRECATED);
        self.eviction = request.eviction.unwrap_or(self.eviction);
        self.vacancy = request.vacancy.unwrap_or(self.vacancy);
        let has_room = room >= self.vacancy.up;
        self.next = if has_room { TableStatusReason::VacancyDown } else { TableStatusReason::VacancyUp };
        self.candidates = None;
    }

    /// The configuration as it is told.
    pub fn desc(&self, table_id: u8, room: u8) -> TableDesc {
        TableDesc {
            table_id,
            config: self.config,
            eviction: Some(self.eviction),
            vacancy: Some(Vacancy { current: room, ..self.vacancy }),
            properties: Vec::new(),
        }
    }

    /// Whether the table tells how full it is.
    #[inline]
    pub fn tells_vacancy(&self) -> bool {
        self.config.contains(TableConfig::VACANCY_EVENTS)
    }

    /// The event that has come about with `room` percent left.
    pub fn vacancy_event(&mut self, room: u8) -> Option<TableStatusReason> {
        let (came, then) = match self.next {
            TableStatusReason::VacancyUp => (room > self.vacancy.up, TableStatusReason::VacancyDown),
            TableStatusReason::VacancyDown | TableStatusReason::Unknown(_) => {
                (room < self.vacancy.down, TableStatusReason::VacancyUp)
            }
        };
        came.then(|| std::mem::replace(&mut self.next, then))
    }

    /// Keeps a new entry of a table of `len` in mind.
    #[inline]
    pub fn note(&mut self, candidate: Candidate, id: u32, len: usize) {
        let Some(candidates) = &mut self.candidates else { return };
        candidates.push(Reverse((candidate, id)));
        if candidates.len() > 2 * len + 64 {
            // Mostly entries that are gone.
            self.candidates = None;
        }
    }

    /// The entry to evict for one of that importance; `None` if every one matters more.
    pub fn least<'a, I: Iterator<Item = (u32, &'a Entry)>>(
        &mut self,
        importance: u16,
        all: impl FnOnce() -> I,
        entry: impl Fn(u32) -> Option<&'a Entry>,
    ) -> Option<u32> {
        let by = self.eviction;
        let candidates = self.candidates.get_or_insert_with(|| {
            all().map(|(id, entry)| Reverse((Candidate::of(entry, by), id))).collect()
        });
        while let Some(Reverse((candidate, id))) = candidates.pop() {
            let Some(entry) = entry(id).filter(|e| e.serial == candidate.serial) else { continue };
            let now = Candidate::of(entry, by);
            if now != candidate {
                candidates.push(Reverse((now, id)));
                continue;
            }
            if now.importance <= importance || !by.contains(EvictionFlags::IMPORTANCE) {
                return Some(id);
            }
            candidates.push(Reverse((now, id)));
            return None;
        }
        None
    }
}

/// Whether a TABLE_MOD can be honoured.
///
/// # Errors
/// Bits that nobody knows, thresholds that make no sense.
pub fn check(request: &TableMod, version: Version) -> Result<(), ErrorCode> {
    let known = match version {
        Version::V1_0 | Version::V1_3 => DEPRECATED,
        Version::V1_4 | Version::V1_5 => DEPRECATED | TableConfig::EVICTION.0 | TableConfig::VACANCY_EVENTS.0,
    };
    if request.config.0 & !known != 0 {
        return Err(ErrorCode::TableModBadConfig);
    }
    crate::check::properties(&request.properties)?;
    let is_odd = request.eviction.is_some_and(|by| by.0 & !BOTH.0 != 0)
        || request.vacancy.is_some_and(|v| v.down > v.up || v.up > 100);
    if is_odd { Err(ErrorCode::PropertyBadValue) } else { Ok(()) }
}
