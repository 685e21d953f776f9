//! TABLE_FEATURES: what tables can do, and the one thing that a controller may choose: where egress begins (1.5).

use crate::abilities::Tables;
use crate::core::{Core, Outcome};
use crate::statistics::Pending;
use flowgauge_datapath::{FlowTable, MAX_TABLES};
use flowgauge_openflow::{
    Body, ErrorCode, MultipartReply, ReplyBody, TableFeatureFlags, TableFeatures, TableFeaturesCommand,
    Version,
};

/// Tables described in one message.
const TABLES_PER_MESSAGE: usize = 16;

impl Core {
    /// The tables as a controller is told of them.
    fn tables(&self, who: usize) -> Tables {
        Tables {
            count: self.pipeline.tables().len().min(MAX_TABLES) as u8,
            max_entries: self.max_entries,
            first_egress: self.pipeline.first_egress(),
            version: self.outlet.controllers[who].version,
        }
    }

    /// Tells of some tables from `next` on; what is left.
    pub fn tell_tables(&mut self, who: usize, xid: u32, next: usize) -> Option<Pending> {
        let tables = self.tables(who);
        let count = usize::from(tables.count);
        let end = (next + TABLES_PER_MESSAGE).min(count);
        let part = (next..end).map(|number| tables.features(number as u8)).collect();
        let reply = MultipartReply { more: end < count, body: ReplyBody::TableFeatures(part) };
        self.controller(who).send(xid, Body::MultipartReply(reply));
        (end < count).then_some(Pending::TableFeatures { xid, next: end })
    }

    /// Does what a list of table features asks, if that is no more than where egress begins, and tells how the tables
    /// are now.
    ///
    /// # Errors
    /// A table that isn't there; anything else that the controller would have otherwise; tables that hold entries.
    pub fn set_tables(&mut self, who: usize, xid: u32, wanted: &[TableFeatures], more: bool) -> Outcome {
        let tables = self.tables(who);
        if wanted.iter().any(|w| w.table_id >= tables.count) {
            return Err(ErrorCode::TableFeaturesBadTable);
        }
        let asks_for_egress = |w: &TableFeatures| w.features.contains(TableFeatureFlags::FIRST_EGRESS);
        let only_places = wanted.iter().all(|w| differs_in_place_only(w, &tables.features(w.table_id)));
        if tables.version != Version::V1_5 || more || !only_places {
            return Err(ErrorCode::TableFeaturesPermission);
        }
        let mut first = wanted.iter().filter(|w| asks_for_egress(w)).map(|w| w.table_id);
        let egress = match (first.next(), first.next()) {
            (_, Some(_)) | (Some(0), _) => return Err(ErrorCode::TableFeaturesBadFeatures),
            (egress, None) => egress,
        };
        let keeps = egress.is_none() && wanted.iter().all(|w| Some(w.table_id) != tables.first_egress);
        let first_egress = if keeps { tables.first_egress } else { egress };
        if first_egress != tables.first_egress {
            if !self.pipeline.tables().iter().all(FlowTable::is_empty) {
                return Err(ErrorCode::TableFeaturesPermission);
            }
            self.pipeline.set_first_egress(first_egress);
        }
        Ok(Some(Pending::TableFeatures { xid, next: 0 }))
    }
}

/// Whether a controller asks for no other abilities than a table has. What it leaves out stays.
fn differs_in_place_only(wanted: &TableFeatures, ours: &TableFeatures) -> bool {
    let is_known = match wanted.command {
        TableFeaturesCommand::Replace | TableFeaturesCommand::Modify => true,
        TableFeaturesCommand::Enable | TableFeaturesCommand::Disable | TableFeaturesCommand::Unknown(_) => {
            false
        }
    };
    is_known
        && wanted.max_entries == ours.max_entries
        && wanted.metadata_match == ours.metadata_match
        && wanted.metadata_write == ours.metadata_write
        && (wanted.properties.is_empty() || wanted.properties == ours.properties)
}
