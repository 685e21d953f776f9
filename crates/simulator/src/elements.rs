//! The elements of a testbed, numbered. Of events at one instant those nearer to a frame's end come first: a place that
//! becomes free is free for a frame that comes at the same time.

/// An element; ports are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// The cable from a switch port to the tester.
    CableOut(usize),
    /// The queues and the transmitter of a switch port.
    Output(usize),
    /// The pipeline's delay before a switch port.
    Delay(usize),
    /// The software path.
    Software,
    /// A server.
    Server(usize),
    /// The cable from the tester to a switch port.
    CableIn(usize),
    /// A tester port's sending side.
    Tx(usize),
    /// The control plane.
    Control,
    /// The transmission on its way.
    Transmission,
}

/// How many elements of each kind there are.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    ports: usize,
    servers: usize,
}

impl Elements {
    /// Of a testbed with so many ports and servers.
    pub fn new(ports: usize, servers: usize) -> Elements {
        Elements { ports, servers }
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.number(Element::Transmission) + 1
    }

    /// An element's number.
    #[inline]
    pub fn number(self, element: Element) -> usize {
        let Elements { ports, servers } = self;
        match element {
            Element::CableOut(port) => port,
            Element::Output(port) => ports + port,
            Element::Delay(port) => 2 * ports + port,
            Element::Software => 3 * ports,
            Element::Server(server) => 3 * ports + 1 + server,
            Element::CableIn(port) => 3 * ports + 1 + servers + port,
            Element::Tx(port) => 4 * ports + 1 + servers + port,
            Element::Control => 5 * ports + 1 + servers,
            Element::Transmission => 5 * ports + 2 + servers,
        }
    }

    /// All elements in the order of their numbers.
    pub fn all(self) -> Vec<Element> {
        let Elements { ports, servers } = self;
        let each = |make: fn(usize) -> Element, n: usize| (0..n).map(make);
        each(Element::CableOut, ports)
            .chain(each(Element::Output, ports))
            .chain(each(Element::Delay, ports))
            .chain([Element::Software])
            .chain(each(Element::Server, servers))
            .chain(each(Element::CableIn, ports))
            .chain(each(Element::Tx, ports))
            .chain([Element::Control, Element::Transmission])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order() {
        for (ports, servers) in [(1, 1), (4, 1), (3, 5)] {
            let elements = Elements::new(ports, servers);
            let numbers: Vec<_> = elements.all().into_iter().map(|e| elements.number(e)).collect();
            assert_eq!(numbers, (0..elements.count()).collect::<Vec<_>>());
        }
    }
}
