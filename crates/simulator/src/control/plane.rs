//! The control plane itself: which message is handled when, and what comes of it.

use flowgauge_channel::wire::{self, Header};
use flowgauge_datapath::{Pipeline, Punt};
use flowgauge_openflow::{ErrorCode, Version};
use flowgauge_switch::Agent;

use super::census::Census;
use super::channel::Channel;
use super::path::Path;
use super::processor::Processor;
use super::told::Told;
use super::writer::{Change, Writer};
use super::{Delivered, Emission, Punted, Surroundings, agent};
use crate::model::{Barrier, Model};
use crate::picos::Picos;

/// The control plane of a switch: channel, processor, table writer, and the ways of PACKET_INs and PACKET_OUTs.
pub struct ControlPlane {
    model: Model,
    agent: Agent,
    version: u64,
    channel: Channel,
    processor: Processor,
    /// A PACKET_OUT for which its way has no room.
    held: Option<Vec<u8>>,
    writer: Writer,
    census: Census,
    packet_ins: Path<Vec<u8>>,
    packet_outs: Path<Vec<u8>>,
    packet_ins_lost: u64,
    told: Told,
    restart: Picos,
    restarted: Option<Picos>,
}

impl ControlPlane {
    /// Of a switch with that many ports, numbered from 1.
    pub fn new(model: &Model, ports: usize, seed: u64) -> ControlPlane {
        let control = &model.control;
        let restart = Picos::from_ns_f64(control.restart_s * 1e9);
        ControlPlane {
            agent: agent::new(model, ports),
            version: 0,
            channel: Channel::new(control, seed),
            processor: Processor::new(model, seed),
            held: None,
            writer: Writer::new(&model.table, seed),
            census: Census::new(&model.table),
            packet_ins: Path::new(&control.packet_in, seed, "packet in"),
            packet_outs: Path::new(&control.packet_out, seed, "packet out"),
            packet_ins_lost: 0,
            told: Told::new(&model.statistics),
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
        self.restarted = None;
        agent::connect(&mut self.agent, version)
    }

    /// When the switch restarted, which ended the channel.
    pub fn restarted(&self) -> Option<Picos> {
        self.restarted
    }

    /// Bytes that the switch's TCP takes now, before it stops taking more.
    pub fn window(&self) -> u64 {
        self.channel.window()
    }

    /// Bytes that the controller has written.
    pub fn written(&self) -> u64 {
        self.channel.written()
    }

    /// Position in the stream of the controller's messages up to which the switch's TCP has taken them.
    pub fn acknowledged(&self) -> u64 {
        self.channel.arrived()
    }

    /// PACKET_INs for which there was no waiting place.
    pub fn packet_ins_lost(&self) -> u64 {
        self.packet_ins_lost
    }

    /// When [`run`](ControlPlane::run) wants to be called next, if nothing happens before; [`Picos::MAX`]: never.
    pub fn next_event(&self) -> Picos {
        let room = if self.held.is_some() { self.packet_outs.room_at() } else { Picos::MAX };
        let timeout = self.agent.next_deadline().map_or(Picos::MAX, Picos::from);
        let ways = self.packet_ins.next().min(self.packet_outs.next()).min(self.writer.next());
        let ways = ways.min(self.packet_ins.begins());
        let rest = self.told.next().min(self.restart);
        self.channel.next().min(self.processor.next()).min(room).min(timeout).min(ways).min(rest)
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
        self.channel.deliver(now);
    }

    /// One thing of those that happen now; whether there was any.
    fn turn(&mut self, around: &mut Surroundings<'_>) -> bool {
        let now = around.now;
        if let Some(message) = self.channel.arrive(now) {
            self.processor.push(message);
            return true;
        }
        if let Some(message) = self.processor.finish(now) {
            self.handle(message, around);
            return true;
        }
        if let Some(message) = self.held.take_if(|_| self.packet_outs.has_room(now)) {
            self.start_packet_out(message, now);
            return true;
        }
        if self.held.is_none() && self.processor.start(now, self.agent.pipeline()) {
            return true;
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
            self.channel.send(now, message);
            return true;
        }
        false
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
                self.channel.handled(&message);
            } else {
                self.held = Some(message);
            }
            return;
        }
        self.channel.handled(&message);
        let waits = match kind {
            wire::ECHO_REQUEST => false,
            _ if is_barrier => self.model.control.barrier == Barrier::Honest,
            _ => true,
        };
        if is_write || waits && !self.writer.is_idle() {
            let entries = if is_write { self.census.added(&message) } else { 0 };
            self.writer.push(Change { bytes: message, is_write, entries });
        } else {
            self.request(&message, around);
        }
    }

    fn start_packet_out(&mut self, message: Vec<u8>, now: Picos) {
        self.channel.handled(&message);
        self.packet_outs.push(now, message.len(), message, None);
    }

    fn next_change(&mut self, now: Picos) -> Option<Change> {
        let ControlPlane { writer, agent, census, .. } = self;
        writer.turn(now, |message, unseen| census.write_time(agent.pipeline(), message, unseen))
    }

    /// A change has come to the tables; or everything before it has, and it is answered.
    fn carry_out(&mut self, change: Change, around: &mut Surroundings<'_>) {
        let watched = if change.is_write { self.census.watched(&change.bytes) } else { None };
        if let Some(request) = &watched {
            if self.census.lacks_room(self.agent.pipeline(), request) {
                self.agent.refuse(&change.bytes, ErrorCode::FlowModTableFull);
                return self.send(around);
            }
        }
        self.request(&change.bytes, around);
        if let Some(request) = &watched {
            self.census.note(self.agent.pipeline(), request);
        }
    }

    /// Lets the agent handle a message now.
    fn request(&mut self, message: &[u8], around: &mut Surroundings<'_>) {
        let kind = Header::parse(message).map_or(0, |header| header.message_type);
        if !matches!(kind, wire::ECHO_REQUEST | wire::PACKET_OUT) {
            self.version += 1;
        }
        agent::tell_counts(&mut self.agent, around, !self.model.queues.output.is_empty());
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
        for (header, message) in wire::split(&said) {
            if header.message_type != wire::PACKET_IN {
                let message = self.told.tell(message.to_vec());
                self.channel.send(around.now, message);
            } else if self.packet_ins.has_room(around.now) {
                let share = self.model.control.packet_in_share;
                let shares = share > 0.0 && self.writer.is_writing();
                self.packet_ins.push(around.now, message.len(), message.to_vec(), shares.then_some(share));
            } else {
                self.packet_ins_lost += 1;
            }
        }
    }

    fn restart_now(&mut self, now: Picos) {
        self.restart = Picos::MAX;
        self.restarted = Some(now);
        self.version += 1;
        self.agent.reset();
        self.writer.clear();
        self.packet_ins.clear();
        self.packet_outs.clear();
        self.channel.clear();
        self.processor.clear();
        self.held = None;
    }

    /// The tester wrote a message into the channel.
    pub fn message_in(&mut self, bytes: &[u8], around: &mut Surroundings<'_>) {
        if self.agent.is_connected() {
            self.channel.write(around.now, bytes.to_vec());
        }
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
        self.channel.take_delivered()
    }
}
