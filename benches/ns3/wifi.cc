// A Wi-Fi cell in ns-3: an access point with more for its stations than the medium carries.
//
//   access point ))) 802.11g, 54 Mb/s ((( stations
//
// Built and run by benches/ns3/run; prints one line of JSON. All stations are at one place, and nothing but collisions
// loses a frame. There are no traces and no logs.

#include "cpu.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <cstdio>
#include <vector>

using namespace ns3;

namespace {

struct Options {
    uint32_t stations = 4, seed = 1, payload = 1024;
    double duration = 6, warmup = 1;
};

constexpr uint16_t PORT = 5000;
/// All packets together, headers of IP and UDP included: the medium carries 25 to 30 Mb/s.
constexpr double OFFERED = 32e6;

/// The cell and its traffic.
class Cell {
  public:
    explicit Cell(const Options& options) : m_options(options) {
        m_accessPoint.Create(1);
        m_stations.Create(options.stations);
        const NetDeviceContainer devices = Connect();
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.InstallAll();
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        for (uint32_t station = 0; station < options.stations; ++station) Load(station, interfaces.GetAddress(station + 1));
    }

    /// Payload that has arrived, in bytes.
    uint64_t Arrived() const {
        uint64_t bytes = 0;
        for (const auto& sink : m_sinks) bytes += sink->GetTotalRx();
        return bytes;
    }

  private:
    NetDeviceContainer Connect() {
        YansWifiPhyHelper phy;
        phy.SetChannel(YansWifiChannelHelper::Default().Create());
        WifiHelper wifi;
        wifi.SetStandard(WIFI_STANDARD_80211g);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("ErpOfdmRate54Mbps"), "ControlMode",
                                     StringValue("ErpOfdmRate24Mbps"));
        const Ssid ssid("cell");
        WifiMacHelper mac;
        mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(false));
        NetDeviceContainer devices = wifi.Install(phy, mac, m_accessPoint);
        mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(false));
        devices.Add(wifi.Install(phy, mac, m_stations));
        MobilityHelper place;
        place.SetMobilityModel("ns3::ConstantPositionMobilityModel");
        place.Install(m_accessPoint);
        place.Install(m_stations);
        return devices;
    }

    /// Starts the traffic for one station, once all have associated.
    void Load(uint32_t station, Ipv4Address address) {
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
        m_sinks.push_back(DynamicCast<PacketSink>(sink.Install(m_stations.Get(station)).Get(0)));
        UdpClientHelper constant(address, PORT);
        const double gap = (m_options.payload + 28) * 8 * m_options.stations / OFFERED;
        constant.SetAttribute("PacketSize", UintegerValue(m_options.payload));
        constant.SetAttribute("Interval", TimeValue(Seconds(gap)));
        constant.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
        auto sources = constant.Install(m_accessPoint.Get(0));
        sources.Start(Seconds(0.5 + gap * station / m_options.stations));
    }

    const Options m_options;
    NodeContainer m_accessPoint, m_stations;
    std::vector<Ptr<PacketSink>> m_sinks;
};

} // namespace

int main(int argc, char* argv[]) {
    Options options;
    CommandLine line(__FILE__);
    line.AddValue("stations", "stations that are sent to", options.stations);
    line.AddValue("payload", "bytes of UDP in a packet", options.payload);
    line.AddValue("seed", "the run of ns-3's random numbers", options.seed);
    line.AddValue("duration", "seconds in all", options.duration);
    line.AddValue("warmup", "seconds that are not counted", options.warmup);
    line.Parse(argc, argv);
    if (options.stations < 1 || options.stations > 200 || !(options.warmup >= 1 && options.warmup < options.duration)) {
        std::fprintf(stderr, "wifi: 1 to 200 --stations, and a --warmup of 1 or more before the end of --duration\n");
        return 2;
    }
    RngSeedManager::SetRun(options.seed);
    GlobalValue::Bind("SchedulerType", StringValue("ns3::HeapScheduler"));
    Cell cell(options);
    Simulator::Stop(Seconds(options.warmup));
    Simulator::Run();
    const uint64_t from = cell.Arrived();
    Simulator::Stop(Seconds(options.duration - options.warmup));
    Simulator::Run();
    const double goodput = (cell.Arrived() - from) * 8e-6 / (options.duration - options.warmup);
    std::printf("{\"goodput_mbps\":%.3f,\"cpu_s\":%.3f,\"sim_s\":%.3f}\n", goodput, CpuSeconds(), options.duration);
    Simulator::Destroy();
}
