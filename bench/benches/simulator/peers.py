"""SimPy and Ciw as peers of the packet benchmark.

The argument is the name of the peer. Prints its versions first. Then each input line describes a queue,
and the answer is one line with the elapsed time of the simulation and the mean sojourn time. The time
unit of the simulation is the mean service time; only the simulation is timed. All lines are JSON.
"""

import json
import platform
import random
import sys
import time
from importlib.metadata import version


def simpy_runner():
    """SimPy as in its bank example: one process per customer, and a shared resource."""
    import simpy

    def simulate(servers, arrivals, exponential, customers, seed):
        draw = random.Random(seed).expovariate
        environment = simpy.Environment()
        bank = simpy.Resource(environment, capacity=servers)
        total = 0.0

        def customer():
            nonlocal total
            arrived = environment.now
            with bank.request() as turn:
                yield turn
                yield environment.timeout(draw(1.0) if exponential else 1.0)
            total += environment.now - arrived

        def source():
            for _ in range(customers):
                yield environment.timeout(draw(arrivals))
                environment.process(customer())

        environment.process(source())
        start = time.perf_counter()
        environment.run()
        seconds = time.perf_counter() - start
        return {"customers": customers, "seconds": seconds, "mean_sojourn": total / customers}

    return simulate


def ciw_runner():
    """A Ciw network of one node, run until enough customers have finished."""
    import ciw

    def simulate(servers, arrivals, exponential, customers, seed):
        ciw.seed(seed)
        service = ciw.dists.Exponential(rate=1.0) if exponential else ciw.dists.Deterministic(value=1.0)
        network = ciw.create_network(
            arrival_distributions=[ciw.dists.Exponential(rate=arrivals)],
            service_distributions=[service],
            number_of_servers=[servers],
        )
        simulation = ciw.Simulation(network)
        start = time.perf_counter()
        simulation.simulate_until_max_customers(customers, method="Finish")
        seconds = time.perf_counter() - start
        sojourns = [record.exit_date - record.arrival_date for record in simulation.get_all_records()]
        return {"customers": len(sojourns), "seconds": seconds, "mean_sojourn": sum(sojourns) / len(sojourns)}

    return simulate


def main():
    peer = sys.argv[1]
    simulate = {"simpy": simpy_runner, "ciw": ciw_runner}[peer]()
    print(json.dumps({"python": platform.python_version(), "version": version(peer)}), flush=True)
    for line in sys.stdin:
        print(json.dumps(simulate(**json.loads(line))), flush=True)


main()
