//! The control plane itself: which message is handled when, and what comes of it.

use std::collections::VecDeque;

use flowgauge_channel::wire::{self, Header};
use flowgauge_datapath::{Limits, Pipeline, Punt};
use flowgauge_openflow::{
    Body, ErrorCode, FlowMod, FlowModCommand, TABLE_ALL, TableConfig, TableMod, Version, decode,
};
use flowgauge_switch::{Agent, AgentConfig, AgentPort, PortCounts};

use super::census::Census;
use super::channel::Direction;
use super::path::Path;
use super::told::Told;
use super::writer::{Change, Writer};
use super::{Delivered, Emission, Punted, Surroundings};
use crate::model::{Barrier, Model};
use crate::output::setups;
use crate::picos::Picos;
use crate::sampling::{Sampler, element};

/// The datapath id of every simulated switch.
const DATAPATH_ID: u64 = 0x00fa_cade_5000_0001;
/// Packets that it keeps for its controller.
const BUFFERS: u32 = 256;

/// The control plane of a switch: channel, processor, table writer, and the ways of PACKET_INs and PACKET_OUTs.
pub struct ControlPlane {
    model: Model,
    agent: Agent,
    version: u64,
    up: Direction,
    down: Direction,
    /// On their way to the switch.
    arriving: VecDeque<(Picos, Vec<u8>)>,
    /// Taken in by the switch, not handled.
    waiting: VecDeque<Vec<u8>>,
    message: Sampler,
    echo: Sampler,
    flow_mod: Sampler,
    /// The message that is being handled, and until when.
    busy: Option<(Picos, Vec<u8>)>,
    /// A PACKET_OUT for which its way has no room.
    held: Option<Vec<u8>>,
    /// Bytes written by the controller, come to the switch, and handled.
    bytes: [u64; 3],
    writer: Writer,
    census: Census,
    packet_ins: Path<Vec<u8>>,
    packet_outs: Path<Vec<u8>>,
    packet_ins_lost: u64,
    told: Told,
    delivering: VecDeque<(Picos, Vec<u8>)>,
    delivered: Vec<Delivered>,
    restart: Picos,
    restarted: Option<Picos>,
}

impl ControlPlane {
    /// Of a switch with that many ports, numbered from 1.
    pub fn new(model: &Model, ports: usize, seed: u64) -> ControlPlane {
        let control = &model.control;
        let sampler = |times, tag| Sampler::new(times, element(seed, tag, 0));
        let restart = Picos::from_ns_f64(control.restart_s * 1e9);
        ControlPlane {
            agent: agent(model, ports),
            version: 0,
            up: Direction::new(control, seed, 0),
            down: Direction::new(control, seed, 1),
            arriving: VecDeque::new(),
            waiting: VecDeque::new(),
            message: sampler(&control.message, "message"),
            echo: sampler(&control.echo, "echo"),
            flow_mod: sampler(&control.flow_mod, "flow mod"),
            busy: None,
            held: None,
            bytes: [0; 3],
            writer: Writer::new(&model.table, seed),
            census: Census::default(),
            packet_ins: Path::new(&control.packet_in, seed, "packet in"),
            packet_outs: Path::new(&control.packet_out, seed, "packet out"),
            packet_ins_lost: 0,
            told: Told::new(&model.statistics),
            delivering: VecDeque::new(),
            delivered: Vec::new(),
            restart: if restart == Picos::ZERO { Picos::MAX } else { restart },
            restarted: None,
            model: model.clone(),
        }
    }

    /// The tables that frames are looked up in now.
    pub fn pipeline(&mut self) -> &mut Pipeline {
        self.agent.pipeline_mut()
    }

    /// Another number after every change after which a frame may fare otherwise: decisions are remembered that long.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Changes the pipeline from outside, as tests do.
    pub fn change<R>(&mut self, change: impl FnOnce(&mut Pipeline) -> R) -> R {
        self.version += 1;
        change(self.agent.pipeline_mut())
    }

    /// A controller that speaks that version connects: the handshake takes no time. Gives the switch's FEATURES_REPLY.
    pub fn connect(&mut self, version: Version) -> Vec<u8> {
        self.version += 1;
        self.agent.connect(version);
        self.restarted = None;
        let mut reply = Vec::new();
        let request = wire::message(version.wire(), wire::FEATURES_REQUEST, 0, &[]);
        self.agent.request(&request, Default::default());
        self.agent.take_messages(&mut reply);
        reply
    }

    /// When the switch restarted, which ended the channel.
    pub fn restarted(&self) -> Option<Picos> {
        self.restarted
    }

    /// Bytes that the switch's TCP takes now, before it stops taking more.
    pub fn window(&self) -> u64 {
        let [written, _, handled] = self.bytes;
        u64::from(self.model.control.window_bytes).saturating_sub(written - handled)
    }

    /// Bytes that the controller has written.
    pub fn written(&self) -> u64 {
        self.bytes[0]
    }

    /// Position in the stream of the controller's messages up to which the switch's TCP has taken them.
    pub fn acknowledged(&self) -> u64 {
        self.bytes[1]
    }

    /// PACKET_INs for which there was no waiting place.
    pub fn packet_ins_lost(&self) -> u64 {
        self.packet_ins_lost
    }

    /// When [`run`](ControlPlane::run) wants to be called next, if nothing happens before; [`Picos::MAX`]: never.
    pub fn next_event(&self) -> Picos {
        let arrival = self.arriving.front().map_or(Picos::MAX, |&(at, _)| at);
        let done = self.busy.as_ref().map_or(Picos::MAX, |&(at, _)| at);
        let room = if self.held.is_some() { self.packet_outs.room_at() } else { Picos::MAX };
        let delivery = self.delivering.front().map_or(Picos::MAX, |&(at, _)| at);
        let timeout = self.agent.next_deadline().map_or(Picos::MAX, Picos::from);
        let ways = self.packet_ins.next().min(self.packet_outs.next()).min(self.writer.next());
        let ways = ways.min(self.packet_ins.begins());
        let rest = self.told.next().min(self.restart);
        arrival.min(done).min(room).min(delivery).min(timeout).min(ways).min(rest)
    }

    /// The time that [`next_event`](ControlPlane::next_event) gave has come.
    pub fn run(&mut self, around: &mut Surroundings<'_>) {
        let now = around.now;
        if now >= self.restart {
            self.restart_now(now);
        }
        self.told.read(now, self.agent.pipeline());
        if self.agent.next_deadline().is_some_and(|at| Picos::from(at) <= now) {
            self.version += 1;
            self.agent.expire(now.nanos());
            self.send(around);
        }
        while self.turn(around) {}
        while self.delivering.front().is_some_and(|&(at, _)| at <= now) {
            if let Some((at, bytes)) = self.delivering.pop_front() {
                self.delivered.push(Delivered { at, bytes });
            }
        }
    }

    /// One thing of those that happen now; whether there was any.
    fn turn(&mut self, around: &mut Surroundings<'_>) -> bool {
        let now = around.now;
        if self.arriving.front().is_some_and(|&(at, _)| at <= now) {
            if let Some((_, message)) = self.arriving.pop_front() {
                self.bytes[1] += message.len() as u64;
                self.waiting.push_back(message);
            }
            return true;
        }
        if self.busy.as_ref().is_some_and(|&(at, _)| at <= now) {
            if let Some((_, message)) = self.busy.take() {
                self.handle(message, around);
            }
            return true;
        }
        if let Some(message) = self.held.take() {
            if !self.packet_outs.has_room(now) {
                self.held = Some(message);
            } else {
                self.start_packet_out(message, now);
                return true;
            }
        }
        if self.busy.is_none() && self.held.is_none() {
            if let Some(message) = self.waiting.pop_front() {
                self.busy = Some((now + self.time_of(&message), message));
                return true;
            }
        }
        if let Some(service) = self.packet_ins.begun(now) {
            self.writer.stall(service);
            return true;
        }
        if let Some(change) = self.next_change(now) {
            self.carry_out(change, around);
            return true;
        }
        if let Some(message) = self.packet_outs.pop(now) {
            self.request(&message, around);
            return true;
        }
        if let Some(message) = self.packet_ins.pop(now) {
            self.deliver(message, now);
            return true;
        }
        false
    }

    /// How long the processor takes for a message.
    fn time_of(&mut self, message: &[u8]) -> Picos {
        let Some(header) = Header::parse(message) else { return Picos::ZERO };
        let time = self.message.next();
        match header.message_type {
            wire::ECHO_REQUEST => time + self.echo.next(),
            wire::FLOW_MOD => time + self.flow_mod.next(),
            kind if kind == wire::multipart_reply(header.version) - 1 => {
                let held: usize = self.agent.pipeline().tables().iter().map(|table| table.len()).sum();
                let asks_for_entries = matches!(message.get(8..10), Some([0, 1 | 2 | 17]));
                let entries = if asks_for_entries { held } else { 0 };
                time + Picos::from_ns_f64(self.model.statistics.per_entry_ns * entries as f64)
            }
            _ => time,
        }
    }

    /// The processor has done its part of a message.
    fn handle(&mut self, message: Vec<u8>, around: &mut Surroundings<'_>) {
        let header = Header::parse(&message);
        let kind = header.as_ref().map_or(0, |header| header.message_type);
        let version = header.map_or(0, |header| header.version);
        let is_barrier = kind == wire::barrier_request(version);
        let is_write = kind == wire::FLOW_MOD;
        if kind == wire::PACKET_OUT {
            if self.packet_outs.has_room(around.now) {
                self.start_packet_out(message, around.now);
            } else if self.model.control.packet_out.lossy {
                self.bytes[2] += message.len() as u64;
            } else {
                self.held = Some(message);
            }
            return;
        }
        self.bytes[2] += message.len() as u64;
        let waits = match kind {
            wire::ECHO_REQUEST => false,
            _ if is_barrier => self.model.control.barrier == Barrier::Honest,
            _ => true,
        };
        if is_write || waits && !self.writer.is_idle() {
            let entries = if is_write { self.added(&message) } else { 0 };
            self.writer.push(Change { bytes: message, is_write, entries });
        } else {
            self.request(&message, around);
        }
    }

    fn start_packet_out(&mut self, message: Vec<u8>, now: Picos) {
        self.bytes[2] += message.len() as u64;
        let length = message.len();
        self.packet_outs.push(now, length, message, None);
    }

    fn next_change(&mut self, now: Picos) -> Option<Change> {
        let ControlPlane { writer, agent, census, model, .. } = self;
        writer.turn(now, |message, unseen| {
            let table = &model.table;
            if table.per_entry_ns == 0.0 && table.shift_ns == 0.0 {
                return Picos::ZERO;
            }
            let Some(request) = flow_mod(message) else { return Picos::ZERO };
            let pipeline = agent.pipeline();
            let held = pipeline.tables().get(usize::from(request.table_id)).map_or(0, |t| t.len() as i64);
            let moved =
                if table.shift_ns > 0.0 { census.moved(pipeline, &request, table.place_bits) } else { 0 };
            let entries = (held + unseen).max(0) as f64;
            Picos::from_ns_f64(table.per_entry_ns * entries + table.shift_ns * moved as f64)
        })
    }

    /// A change has come to the tables; or everything before it has, and it is answered.
    fn carry_out(&mut self, change: Change, around: &mut Surroundings<'_>) {
        let table = &self.model.table;
        let (bits, capacity) = (table.place_bits, table.entries);
        let looks = change.is_write && (bits > 0 || table.shift_ns > 0.0);
        let request = if looks { flow_mod(&change.bytes) } else { None };
        if let Some(request) = &request {
            if self.census.lacks_room(self.agent.pipeline(), request, bits, capacity) {
                self.agent.refuse(&change.bytes, ErrorCode::FlowModTableFull);
                return self.send(around);
            }
        }
        self.request(&change.bytes, around);
        if let Some(request) = &request {
            self.census.note(self.agent.pipeline(), request, bits);
        }
    }

    /// How many entries a FLOW_MOD adds to what its table holds, as far as that matters and can be said of it alone.
    fn added(&self, message: &[u8]) -> i64 {
        if self.model.table.per_entry_ns == 0.0 {
            return 0;
        }
        match flow_mod(message).map(|request| request.command) {
            Some(FlowModCommand::Add) => 1,
            Some(FlowModCommand::DeleteStrict) => -1,
            _ => 0,
        }
    }

    /// Lets the agent handle a message now.
    fn request(&mut self, message: &[u8], around: &mut Surroundings<'_>) {
        let kind = Header::parse(message).map_or(0, |header| header.message_type);
        if !matches!(kind, wire::ECHO_REQUEST | wire::PACKET_OUT) {
            self.version += 1;
        }
        for (number, counts) in (1..).zip(around.ports) {
            let counts = PortCounts {
                received: (counts.rx_packets, counts.rx_bytes, counts.rx_dropped),
                sent: (counts.tx_packets, counts.tx_bytes, counts.tx_dropped),
            };
            self.agent.set_counts(number, counts);
            if !self.model.queues.output.is_empty() {
                self.agent.set_queue_counts(number, (around.queues)(number, around.now));
            }
        }
        self.told.asked(message, self.agent.pipeline());
        self.agent.request(message, around.now.nanos());
        self.send(around);
    }

    /// What the agent has to say goes on its way, and so do frames.
    fn send(&mut self, around: &mut Surroundings<'_>) {
        for frame in self.agent.take_frames() {
            around.emissions.push(Emission { port: frame.port, queue: frame.queue, bytes: frame.bytes });
        }
        let mut said = Vec::new();
        self.agent.take_messages(&mut said);
        let mut rest = said.as_slice();
        while let Some(header) = Header::parse(rest) {
            let (message, others) = rest.split_at(usize::from(header.length).clamp(1, rest.len()));
            rest = others;
            if header.message_type != wire::PACKET_IN {
                let message = self.told.tell(message.to_vec());
                self.deliver(message, around.now);
            } else if self.packet_ins.has_room(around.now) {
                let share = self.model.control.packet_in_share;
                let shares = share > 0.0 && self.writer.is_writing();
                self.packet_ins.push(around.now, message.len(), message.to_vec(), shares.then_some(share));
            } else {
                self.packet_ins_lost += 1;
            }
        }
    }

    fn deliver(&mut self, message: Vec<u8>, now: Picos) {
        let at = self.down.send(now, message.len());
        self.delivering.push_back((at, message));
    }

    fn restart_now(&mut self, now: Picos) {
        self.restart = Picos::MAX;
        self.restarted = Some(now);
        self.version += 1;
        self.agent.reset();
        self.writer.clear();
        self.packet_ins.clear();
        self.packet_outs.clear();
        self.arriving.clear();
        self.waiting.clear();
        self.delivering.clear();
        (self.busy, self.held, self.bytes) = (None, None, [0; 3]);
    }

    /// The tester wrote a message into the channel.
    pub fn message_in(&mut self, bytes: &[u8], around: &mut Surroundings<'_>) {
        if !self.agent.is_connected() {
            return;
        }
        self.bytes[0] += bytes.len() as u64;
        let at = self.up.send(around.now, bytes.len());
        self.arriving.push_back((at, bytes.to_vec()));
    }

    /// Whether there is a place for one more frame to the controller.
    pub fn admits_punt(&mut self, now: Picos) -> bool {
        let admits = self.packet_ins.has_room(now);
        self.packet_ins_lost += u64::from(!admits);
        admits
    }

    /// A frame goes to the controller, for which there was a place.
    pub fn punt(&mut self, punted: Punted, around: &mut Surroundings<'_>) {
        let Punted { bytes, max_len, reason, table_id, cookie, key } = punted;
        let punt = Punt { bytes: &bytes, max_len, reason, table_id, cookie, key: &key, asked: None };
        let (_, sink) = self.agent.data_plane(around.now.nanos());
        sink.punt(&punt);
        self.send(around);
    }

    /// Messages that have come to the tester's end of the channel.
    pub fn take_delivered(&mut self) -> Vec<Delivered> {
        std::mem::take(&mut self.delivered)
    }
}

fn flow_mod(message: &[u8]) -> Option<FlowMod> {
    match decode(message).ok()?.1.body {
        Body::FlowMod(request) => Some(request),
        _ => None,
    }
}

fn agent(model: &Model, ports: usize) -> Agent {
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
