// The lab's first reference scenario in ns-3: N TCP flows and ten streams of constant rate over one drop-tail bottleneck.
//
//   sender --- 10 Gb/s, U(0.5, 1.5) ms --- router === 1 Gb/s, 3 ms, 833 packets === router --- 10 Gb/s, 1 ms --- receiver
//
// --rtt-ms makes the bottleneck longer, and its queue follows: one bandwidth-delay product.
//
// Built and run by benches/ns3/run; prints one line of JSON. Everything that costs ns-3 time without changing what happens
// is left out: no queue discs, no logs, no traces but that of drops, and routes that are found by index. ns-3's links
// carry two bytes of PPP around each IP packet; they count on its bottleneck, as they do in everybody's ns-3.

#include "cpu.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdio>
#include <vector>

using namespace ns3;

namespace {

struct Options {
    uint32_t tcp = 100, cbr = 10, seed = 1;
    std::string flavour = "linux-reno";
    bool delayedAck = false;
    double duration = 40, warmup = 10, rttMs = 10;
};

constexpr uint16_t PORT = 5000;
constexpr uint32_t SEGMENT = 1460;
/// UDP payload of a packet of 1500 bytes.
constexpr uint32_t DATAGRAM = 1472;
/// 1500 bytes at 39.6 Mb/s.
constexpr double CBR_GAP = 1500 * 8 / 39.6e6;
/// Each pair of ends has a subnet of four addresses on either side.
constexpr uint32_t SENDERS = 0x0a000000;
constexpr uint32_t RECEIVERS = 0x0b000000;
constexpr uint32_t SIDE = 0xff000000;

/// Expiries of retransmission timers, of all TCP together.
uint64_t g_timeouts = 0;

/// A growth rule that counts them: a socket announces each by this event and by no other, in recovery and in repetition.
template <class Growth> class Counting : public Growth {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("ns3::Counting" + Growth::GetTypeId().GetName().substr(5))
                               .template SetParent<Growth>()
                               .template AddConstructor<Counting<Growth>>();
        return id;
    }

    void CwndEvent(Ptr<TcpSocketState> state, const TcpSocketState::TcpCAEvent_t event) override {
        g_timeouts += event == TcpSocketState::CA_EVENT_LOSS;
        Growth::CwndEvent(state, event);
    }

    Ptr<TcpCongestionOps> Fork() override { return CopyObject<Counting<Growth>>(this); }
};

/// Routes by index, at the same cost however many ends there are.
class Direct : public Ipv4RoutingProtocol {
  public:
    /// Makes all that is routed to `side` leave on `device`.
    void All(uint32_t side, Ptr<NetDevice> device, Ipv4Address source) { m_ways[side >> 24 & 1] = {Route(device, source)}; }

    /// Makes the next pair's end of `side` reachable by `device`.
    void Next(uint32_t side, Ptr<NetDevice> device, Ipv4Address source) {
        m_ways[side >> 24 & 1].push_back(Route(device, source));
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header& to, Ptr<NetDevice>, Socket::SocketErrno& error) override {
        error = Socket::ERROR_NOTERROR;
        return Find(to.GetDestination());
    }

    bool RouteInput(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> device, UnicastForwardCallback forward,
                    MulticastForwardCallback, LocalDeliverCallback deliver, ErrorCallback) override {
        if (m_ipv4->GetNInterfaces() == 2) {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(device));
        } else {
            forward(Find(header.GetDestination()), packet, header);
        }
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void SetIpv4(Ptr<Ipv4> ipv4) override { m_ipv4 = ipv4; }
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

  private:
    static Ptr<Ipv4Route> Route(Ptr<NetDevice> device, Ipv4Address source) {
        Ptr<Ipv4Route> route = Create<Ipv4Route>();
        route->SetOutputDevice(device);
        route->SetSource(source);
        route->SetGateway(Ipv4Address::GetAny());
        return route;
    }

    /// One route object serves all destinations: on a link between two, nobody asks for a gateway.
    Ptr<Ipv4Route> Find(Ipv4Address to) const {
        const auto& routes = m_ways[to.Get() >> 24 & 1];
        return routes.size() == 1 ? routes[0] : routes[(to.Get() & ~SIDE) >> 2];
    }

    Ptr<Ipv4> m_ipv4;
    /// By side: one route to all of its ends, or one to each.
    std::vector<Ptr<Ipv4Route>> m_ways[2];
};

class DirectHelper : public Ipv4RoutingHelper {
  public:
    DirectHelper* Copy() const override { return new DirectHelper(*this); }
    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node> node) const override {
        Ptr<Direct> direct = CreateObject<Direct>();
        node->AggregateObject(direct);
        return direct;
    }
};

/// What is wrong with the options, if anything is.
const char* Wrong(const Options& options) {
    if (options.flavour != "linux-reno" && options.flavour != "newreno") return "--tcp is linux-reno or newreno";
    if (options.tcp + options.cbr == 0 || options.tcp + options.cbr > 100000) return "there are 1 to 100000 flows";
    if (!(options.rttMs > 4)) return "--rtt-ms is more than the access links' 4";
    if (!(options.warmup >= 0 && options.warmup < options.duration)) return "--warmup ends before --duration";
    return nullptr;
}

/// Sets what every TCP of the run is.
void SetTcp(const Options& options) {
    const bool linuxReno = options.flavour == "linux-reno";
    const TypeId growth = linuxReno ? Counting<TcpLinuxReno>::GetTypeId() : Counting<TcpNewReno>::GetTypeId();
    const char* recovery = linuxReno ? "ns3::TcpPrrRecovery" : "ns3::TcpClassicRecovery";
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(growth));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName(recovery)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(options.delayedAck ? 2 : 1));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::BulkSendApplication::SendSize", UintegerValue(SEGMENT));
}

/// What has been counted by some moment.
struct Count {
    uint64_t carried, dropped, droppedCbr, sentCbr, tcpBytes, timeouts;
};

/// The network and what is read off it.
class Dumbbell {
  public:
    explicit Dumbbell(const Options& options) : m_options(options) {
        m_ends.Create(2 * Pairs());
        m_routers.Create(2);
        DirectHelper routing;
        InternetStackHelper stack;
        stack.SetRoutingHelper(routing);
        stack.SetIpv6StackInstall(false);
        stack.InstallAll();
        Connect();
        for (uint32_t pair = 0; pair < Pairs(); ++pair) Load(pair);
        m_queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dumbbell::Drop, this));
    }

    Count Now() const {
        Count count{m_queue->GetTotalReceivedPackets(), m_queue->GetTotalDroppedPackets(), m_droppedCbr, 0, 0, g_timeouts};
        for (const auto& source : m_cbr) count.sentCbr += source->GetTotalTx() / DATAGRAM;
        for (const auto& sink : m_sinks) count.tcpBytes += sink->GetTotalRx();
        return count;
    }

  private:
    uint32_t Pairs() const { return m_options.tcp + m_options.cbr; }

    NetDeviceContainer Link(Ptr<Node> near, Ptr<Node> far, const char* rate, double delay, const char* queue) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
        // With it a full queue would stop the layer above, which then drops unseen.
        link.DisableFlowControl();
        link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(queue));
        return link.Install(near, far);
    }

    static Ipv4Address Address(Ptr<NetDevice> device, uint32_t address) {
        Ptr<Ipv4> ipv4 = device->GetNode()->GetObject<Ipv4>();
        const uint32_t interface = ipv4->AddInterface(device);
        ipv4->AddAddress(interface, Ipv4InterfaceAddress(Ipv4Address(address), Ipv4Mask("/30")));
        ipv4->SetUp(interface);
        return Ipv4Address(address);
    }

    /// The bottleneck and the links to it. Addresses are given by hand: the usual helper would add queue discs.
    void Connect() {
        // A packet of 1500 bytes takes 12 us.
        const std::string queue = std::to_string(static_cast<uint32_t>(m_options.rttMs / 12e-3)) + "p";
        const double delay = (m_options.rttMs / 2 - 2) * 1e-3;
        const auto middle = Link(m_routers.Get(0), m_routers.Get(1), "1Gbps", delay, queue.c_str());
        m_queue = DynamicCast<PointToPointNetDevice>(middle.Get(0))->GetQueue();
        const auto left = m_routers.Get(0)->GetObject<Direct>();
        const auto right = m_routers.Get(1)->GetObject<Direct>();
        left->All(RECEIVERS, middle.Get(0), Address(middle.Get(0), 0x0c000001));
        right->All(SENDERS, middle.Get(1), Address(middle.Get(1), 0x0c000002));
        Ptr<UniformRandomVariable> near = CreateObject<UniformRandomVariable>();
        for (uint32_t pair = 0; pair < Pairs(); ++pair) {
            Join(2 * pair, left, 0, SENDERS + 4 * pair, near->GetValue(0.5e-3, 1.5e-3));
            Join(2 * pair + 1, right, 1, RECEIVERS + 4 * pair, 1e-3);
        }
    }

    void Join(uint32_t end, Ptr<Direct> routes, uint32_t router, uint32_t subnet, double delay) {
        const auto link = Link(m_ends.Get(end), m_routers.Get(router), "10Gbps", delay, "100000p");
        const Ipv4Address own = Address(link.Get(0), subnet + 1);
        routes->Next(subnet & SIDE, link.Get(1), Address(link.Get(1), subnet + 2));
        const Ptr<Direct> direct = m_ends.Get(end)->GetObject<Direct>();
        direct->All(SENDERS, link.Get(0), own);
        direct->All(RECEIVERS, link.Get(0), own);
    }

    /// Starts one pair's traffic: TCP first, the rest is of constant rate.
    void Load(uint32_t pair) {
        const bool tcp = pair < m_options.tcp;
        const char* protocol = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        const InetSocketAddress to(Ipv4Address(RECEIVERS + 4 * pair + 1), PORT);
        PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), PORT));
        const auto sinks = sink.Install(m_ends.Get(2 * pair + 1));
        if (tcp) {
            BulkSendHelper bulk(protocol, to);
            auto sources = bulk.Install(m_ends.Get(2 * pair));
            sources.Start(Seconds(m_start->GetValue(0, 5)));
            m_sinks.push_back(DynamicCast<PacketSink>(sinks.Get(0)));
        } else {
            UdpClientHelper constant(to.GetIpv4(), PORT);
            constant.SetAttribute("PacketSize", UintegerValue(DATAGRAM));
            constant.SetAttribute("Interval", TimeValue(Seconds(CBR_GAP)));
            constant.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
            auto sources = constant.Install(m_ends.Get(2 * pair));
            sources.Start(Seconds(0));
            m_cbr.push_back(DynamicCast<UdpClient>(sources.Get(0)));
        }
    }

    void Drop(Ptr<const Packet> packet) {
        // PPP's two bytes, then IPv4, whose tenth byte is the protocol.
        uint8_t head[12];
        packet->CopyData(head, sizeof head);
        m_droppedCbr += head[11] == UdpL4Protocol::PROT_NUMBER;
    }

    const Options m_options;
    NodeContainer m_ends, m_routers;
    Ptr<UniformRandomVariable> m_start = CreateObject<UniformRandomVariable>();
    Ptr<Queue<Packet>> m_queue;
    uint64_t m_droppedCbr = 0;
    std::vector<Ptr<UdpClient>> m_cbr;
    std::vector<Ptr<PacketSink>> m_sinks;
};

/// Of nothing, nothing is lost.
double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

void Report(const Options& options, const Count& from, const Count& to) {
    const double dropped = to.dropped - from.dropped;
    const double offered = to.carried - from.carried + dropped;
    const double droppedCbr = to.droppedCbr - from.droppedCbr;
    const double offeredCbr = to.sentCbr - from.sentCbr;
    const double seconds = options.duration - options.warmup;
    std::printf("{\"n_tcp\": %u, \"rtt_ms\": %g, \"seed\": %u, \"tcp\": \"%s\", \"delayed_ack\": %s, ", options.tcp, options.rttMs,
                options.seed, options.flavour.c_str(), options.delayedAck ? "true" : "false");
    std::printf("\"link_loss\": %.6f, \"tcp_loss\": %.6f, \"cbr_loss\": %.6f, \"tcp_goodput_mbps\": %.3f, ",
                Share(dropped, offered), Share(dropped - droppedCbr, offered - offeredCbr), Share(droppedCbr, offeredCbr),
                (to.tcpBytes - from.tcpBytes) * 8e-6 / seconds);
    std::printf("\"tcp_timeouts\": %.3f, ", Share(to.timeouts - from.timeouts, options.tcp));
    std::printf("\"packets\": %llu, \"cpu_s\": %.3f, \"sim_s\": %.3f}\n",
                static_cast<unsigned long long>(to.carried + to.dropped), CpuSeconds(), options.duration);
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    CommandLine line(__FILE__);
    line.AddValue("n-tcp", "TCP flows", options.tcp);
    line.AddValue("n-cbr", "streams of 39.6 Mb/s", options.cbr);
    line.AddValue("seed", "the run of ns-3's random numbers", options.seed);
    line.AddValue("tcp", "linux-reno or newreno", options.flavour);
    line.AddValue("delayed-ack", "an ACK for every second segment", options.delayedAck);
    line.AddValue("rtt-ms", "round trip without queueing, ms, and the queue in the same time", options.rttMs);
    line.AddValue("duration", "seconds in all", options.duration);
    line.AddValue("warmup", "seconds that are not counted", options.warmup);
    line.Parse(argc, argv);
    const char* wrong = Wrong(options);
    if (wrong) {
        std::fprintf(stderr, "dumbbell: %s\n", wrong);
        return 2;
    }

    RngSeedManager::SetRun(options.seed);
    GlobalValue::Bind("SchedulerType", StringValue("ns3::HeapScheduler"));
    SetTcp(options);
    Dumbbell dumbbell(options);
    Simulator::Stop(Seconds(options.warmup));
    Simulator::Run();
    const Count from = dumbbell.Now();
    Simulator::Stop(Seconds(options.duration - options.warmup));
    Simulator::Run();
    Report(options, from, dumbbell.Now());
    Simulator::Destroy();
}
