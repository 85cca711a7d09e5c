// Builds a benchmark's chain and serves it over JSON-RPC; prints its URL, process id and facts as one JSON line.
// Example: node packages/testkit/bin/bench-node.ts --blocks 5000 --transactions-per-block 50 --max-results 20000
import { parseArgs } from 'node:util';
import { createBenchChain } from '../src/bench-chain.ts';
import { type BenchNodeOptions, serveBenchChain } from '../src/bench-node.ts';

const { values } = parseArgs({
  options: {
    options: { type: 'string' },
    blocks: { type: 'string', default: '5000' },
    'transactions-per-block': { type: 'string', default: '50' },
    'logs-per-transaction': { type: 'string', default: '2' },
    'nft-share': { type: 'string', default: '0' },
    'transfer-share': { type: 'string', default: '0.8' },
    'empty-share': { type: 'string', default: '0' },
    'no-log-timestamps': { type: 'boolean', default: false },
    'chain-id': { type: 'string', default: '31337' },
    seed: { type: 'string', default: '1' },
    port: { type: 'string', default: '0' },
    'latency-ms': { type: 'string', default: '0' },
    'max-results': { type: 'string' },
    'max-range': { type: 'string' },
  },
});

const options: BenchNodeOptions =
  values.options === undefined
    ? {
        blocks: Number(values.blocks),
        transactionsPerBlock: Number(values['transactions-per-block']),
        logsPerTransaction: Number(values['logs-per-transaction']),
        nftShare: Number(values['nft-share']),
        transferShare: Number(values['transfer-share']),
        emptyShare: Number(values['empty-share']),
        logTimestamps: !values['no-log-timestamps'],
        chainId: Number(values['chain-id']),
        seed: Number(values.seed),
        port: Number(values.port),
        faults: {
          latencyMs: Number(values['latency-ms']),
          logLimit:
            values['max-results'] === undefined && values['max-range'] === undefined
              ? null
              : {
                  style: 'infura',
                  ...(values['max-results'] === undefined ? {} : { maxResults: Number(values['max-results']) }),
                  ...(values['max-range'] === undefined ? {} : { maxRange: Number(values['max-range']) }),
                },
        },
      }
    : JSON.parse(values.options);

const chain = createBenchChain(options);
const node = await serveBenchChain(chain, options);
console.log(JSON.stringify({ url: node.url, pid: process.pid, ...chain.facts }));
