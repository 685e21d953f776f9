//! Tables: eviction and vacancy.

use crate::codec::property::{Optional, WithProperties};
use crate::codec::wire::{Before, Bits, Coded, Sized16, U8};
use crate::model::{TableDesc, TableMod, TableStatus, Vacancy};

layout!(VacancyWire: Vacancy { down: U8, up: U8, current: Before<1, U8> });

properties!(table: TableMod, since V1_4, others in properties {
    2 SINCE_1_4 "eviction" in table.eviction => Optional<Bits<_, u32>>,
    3 SINCE_1_4 "vacancy" in table.vacancy => Optional<VacancyWire>,
});

layout!(TableDescBody: TableDesc { table_id: Before<1, U8>, config: Bits<_, u32> } lost default);

/// A table's description, length first.
pub(crate) type TableDescWire = Sized16<WithProperties<TableDescBody>>;

properties!(table: TableDesc, since V1_4, others in properties {
    2 SINCE_1_4 "eviction" in table.eviction => Optional<Bits<_, u32>>,
    3 SINCE_1_4 "vacancy" in table.vacancy => Optional<VacancyWire>,
});

layout!(TableStatusWire: TableStatus { reason: Before<7, Coded<_, u8>>, table: TableDescWire });
