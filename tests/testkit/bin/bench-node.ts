// Builds a benchmark's chain and serves it over JSON-RPC. Prints its URL and facts as one JSON line.
// Example: node tests/testkit/bin/bench-node.ts '{"blocks": 5000, "transactionsPerBlock": 50}'
import { createBenchChain } from '../src/bench/bench-chain.ts';
import { type BenchNodeOptions, serveBenchChain } from '../src/bench/bench-node.ts';

const options: BenchNodeOptions = JSON.parse(process.argv[2] ?? '{"blocks": 5000}');
const chain = createBenchChain(options);
const node = await serveBenchChain(chain, options);
console.log(JSON.stringify({ url: node.url, ...chain.facts }));
