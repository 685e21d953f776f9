//! The OpenFlow agent of a simulated switch.

use flowgauge_channel::wire;
use flowgauge_datapath::Limits;
use flowgauge_openflow::{TABLE_ALL, TableConfig, TableMod, Version};
use flowgauge_switch::{Agent, AgentConfig, AgentPort, PortCounts};

use super::Surroundings;
use crate::model::Model;
use crate::output::setups;

/// The datapath id of every simulated switch.
const DATAPATH_ID: u64 = 0x00fa_cade_5000_0001;
/// Packets that it keeps for its controller.
const BUFFERS: u32 = 256;

/// The agent of a switch with that many ports, numbered from 1.
pub fn new(model: &Model, ports: usize) -> Agent {
    let mbps = (model.link.rate_mbps > 0.0).then_some(model.link.rate_mbps as u64);
    let port = |number| AgentPort {
        number,
        name: format!("port{number}"),
        link_mbps: mbps,
        queues: setups(&model.queues),
    };
    let mut agent = Agent::new(AgentConfig {
        datapath_id: DATAPATH_ID,
        ports: (1..=ports as u32).map(port).collect(),
        limits: Limits { tables: model.table.tables as usize, entries: model.table.entries as usize },
        buffers: BUFFERS,
        description: "simulated device under test".to_owned(),
    });
    if model.table.evicts {
        let request = TableMod {
            table_id: TABLE_ALL,
            config: TableConfig::EVICTION,
            eviction: None,
            vacancy: None,
            properties: Vec::new(),
        };
        // A table can always be told to evict.
        let _ = agent.pipeline_mut().table_mod(&request, Version::V1_4);
    }
    agent
}

/// A controller that speaks that version connects; gives the FEATURES_REPLY.
pub fn connect(agent: &mut Agent, version: Version) -> Vec<u8> {
    agent.connect(version);
    let mut reply = Vec::new();
    let request = wire::message(version.wire(), wire::FEATURES_REQUEST, 0, &[]);
    agent.request(&request, Default::default());
    agent.take_messages(&mut reply);
    reply
}

/// Tells the agent what its ports have counted, and their queues where there are `numbered` ones.
pub fn tell_counts(agent: &mut Agent, around: &Surroundings<'_>, numbered: bool) {
    for (number, counts) in (1..).zip(around.ports) {
        let counts = PortCounts {
            received: (counts.rx_packets, counts.rx_bytes, counts.rx_dropped),
            sent: (counts.tx_packets, counts.tx_bytes, counts.tx_dropped),
        };
        agent.set_counts(number, counts);
        if numbered {
            agent.set_queue_counts(number, (around.queues)(number, around.now));
        }
    }
}
