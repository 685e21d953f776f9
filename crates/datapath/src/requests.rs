//! GROUP_MOD, METER_MOD, TABLE_MOD, ports and queues: what changes a pipeline besides its entries.

use crate::check::Facts;
use crate::group::Groups;
use crate::learning::Learning;
use crate::meter::Meters;
use crate::pipeline::Pipeline;
use crate::ports::PortRule;
use crate::program::Program;
use crate::queue::QueueSetup;
use crate::settings;
use crate::sink::Sink;
use flowgauge_clock::Nanos;
use flowgauge_openflow::{
    ErrorCode, FlowRemovedReason, GroupDesc, GroupFeatures, GroupMod, GroupModCommand, GroupStats,
    MeterConfig, MeterFeatures, MeterMod, MeterModCommand, MeterStats, PacketOut, TABLE_ALL, TableDesc,
    TableMod, TableStatus, Version,
};

impl Pipeline {
    /// Does what a GROUP_MOD asks. Entries that send to a group that is deleted go with it.
    ///
    /// # Errors
    /// The ERROR that the controller is to be sent; nothing has changed then.
    pub fn group_mod(
        &mut self,
        request: &GroupMod,
        now: Nanos,
        sink: &mut dyn Sink,
    ) -> Result<(), ErrorCode> {
        if request.command == GroupModCommand::Delete {
            let gone = self.machine.groups.remove(request.group_id)?;
            if !gone.is_empty() {
                let uses = |program: &Program| program.groups().iter().any(|id| gone.contains(id));
                self.remove_users(uses, FlowRemovedReason::GroupDelete, now, sink);
            }
            return Ok(());
        }
        let change = self.machine.groups.plan(request)?;
        // Whatever came in an older version holds in the newest.
        let facts = self.facts(Version::V1_5);
        change.buckets().iter().try_for_each(|bucket| facts.bucket(&bucket.actions))?;
        self.machine.groups.carry_out(request, change, now);
        Ok(())
    }

    /// The counters of a group, or of all (GROUP_ALL), by rising number; none for a group that isn't there.
    pub fn group_stats(&self, id: u32, now: Nanos) -> Vec<GroupStats> {
        self.machine.groups.stats(id, now)
    }

    /// A group, or all (GROUP_ALL), as they were set up, by rising number.
    pub fn group_desc(&self, id: u32) -> Vec<GroupDesc> {
        self.machine.groups.desc(id)
    }

    /// What groups can do.
    pub fn group_features(&self) -> GroupFeatures {
        Groups::features()
    }

    /// Does what a METER_MOD asks. Entries that use a meter that is deleted go with it.
    ///
    /// # Errors
    /// The ERROR that the controller is to be sent; nothing has changed then.
    pub fn meter_mod(
        &mut self,
        request: &MeterMod,
        now: Nanos,
        sink: &mut dyn Sink,
    ) -> Result<(), ErrorCode> {
        if request.command != MeterModCommand::Delete {
            return self.machine.meters.set(request, now);
        }
        let gone = self.machine.meters.remove(request.meter_id);
        if !gone.is_empty() {
            let uses = |program: &Program| program.meters().iter().any(|id| gone.contains(id));
            self.remove_users(uses, FlowRemovedReason::MeterDelete, now, sink);
        }
        Ok(())
    }

    /// The counters of a meter, or of all (METER_ALL), by rising number.
    ///
    /// # Errors
    /// No such meter.
    pub fn meter_stats(&self, id: u32, now: Nanos) -> Result<Vec<MeterStats>, ErrorCode> {
        self.machine.meters.stats(id, now)
    }

    /// A meter, or all (METER_ALL), as they were set up, by rising number.
    ///
    /// # Errors
    /// No such meter.
    pub fn meter_config(&self, id: u32) -> Result<Vec<MeterConfig>, ErrorCode> {
        self.machine.meters.config(id)
    }

    /// What meters can do.
    pub fn meter_features(&self) -> MeterFeatures {
        Meters::features()
    }

    fn remove_users(
        &mut self,
        uses: impl Fn(&Program) -> bool,
        reason: FlowRemovedReason,
        now: Nanos,
        sink: &mut dyn Sink,
    ) {
        for number in 0..self.tables.len() {
            for id in self.tables[number].ids(|entry| uses(&entry.program)) {
                if let Some(removed) = self.tables[number].remove(id) {
                    self.retire(number as u8, removed, reason, now, sink);
                }
            }
        }
    }

    /// Does what a TABLE_MOD asks: eviction and vacancy events (1.4).
    ///
    /// # Errors
    /// The ERROR that the controller is to be sent; nothing has changed then.
    pub fn table_mod(&mut self, request: &TableMod, version: Version) -> Result<(), ErrorCode> {
        let tables = match usize::from(request.table_id) {
            _ if request.table_id == TABLE_ALL => 0..self.tables.len(),
            number if number < self.tables.len() => number..number + 1,
            _ => return Err(ErrorCode::TableModBadTable),
        };
        settings::check(request, version)?;
        for table in &mut self.tables[tables] {
            let room = table.room();
            table.settings.set(request, room);
        }
        Ok(())
    }

    /// How each table is configured (1.4).
    pub fn table_descs(&self) -> Vec<TableDesc> {
        (0..self.tables.len() as u8).map(|number| self.table_desc(number)).collect()
    }

    fn table_desc(&self, number: u8) -> TableDesc {
        let table = &self.tables[usize::from(number)];
        table.settings.desc(number, table.room())
    }

    /// Tells the controller that a table has filled up or has room again, if that is so.
    #[inline]
    pub(crate) fn tell_vacancy(&mut self, number: u8, sink: &mut dyn Sink) {
        let table = &mut self.tables[usize::from(number)];
        if !table.settings.tells_vacancy() {
            return;
        }
        let room = table.room();
        if let Some(reason) = table.settings.vacancy_event(room) {
            sink.table_status(TableStatus { reason, table: self.table_desc(number) });
        }
    }

    /// Makes the tables from `first` on egress tables, which each frame passes for each port that it is sent to
    /// (1.5); `None`: there are none. Entries that lead from one kind to the other are the caller's to remove.
    pub fn set_first_egress(&mut self, first: Option<u8>) {
        self.machine.first_egress = first.filter(|&number| usize::from(number) < self.tables.len());
    }

    /// The first egress table.
    pub fn first_egress(&self) -> Option<u8> {
        self.machine.first_egress
    }

    /// The ports.
    pub fn ports(&self) -> &[PortRule] {
        self.machine.ports.rules()
    }

    /// Adds a port, or changes what is known of it. Stations behind a port that is down are forgotten.
    pub fn set_port(&mut self, port: PortRule) {
        if !port.live {
            self.machine.learning.forget_port(port.number);
        }
        self.machine.ports.set(port);
    }

    /// Takes a port away. Frames to it are dropped from now on.
    pub fn remove_port(&mut self, number: u32) {
        self.machine.learning.forget_port(number);
        self.machine.ports.remove(number);
    }

    /// Says which queues a port has: what entries may send to. Entries that send to one that is gone use the
    /// port's default.
    pub fn set_queues(&mut self, port: u32, queues: Vec<QueueSetup>) {
        self.machine.ports.set_queues(port, queues);
    }

    /// The queues of a port.
    pub fn queues(&self, port: u32) -> &[QueueSetup] {
        self.machine.ports.queues(port)
    }

    /// The stations that NORMAL has learned.
    pub fn learning(&self) -> &Learning {
        &self.machine.learning
    }

    /// Gives NORMAL another table, such as one of another size.
    pub fn set_learning(&mut self, learning: Learning) {
        self.machine.learning = learning;
    }

    /// Whether a PACKET_OUT can be executed. Whether its buffer is there is not looked at.
    ///
    /// # Errors
    /// The ERROR that the controller is to be sent.
    pub fn check_packet_out(&self, request: &PacketOut, version: Version) -> Result<(), ErrorCode> {
        self.facts(version).packet_out(request)
    }

    pub(crate) fn facts(&self, version: Version) -> Facts<'_> {
        Facts { machine: &self.machine, tables: self.tables.len(), version }
    }
}
