/**
 * For tests, the simulation and benchmarks: nodes with faults over recorded or scripted chains, scratch databases, and
 * the demo's local chain. No code of the product imports it. Start reading at `serve-chain.ts` and `faults.ts`.
 */

export { type AptosLedger, createAptosLedger } from 'chainstead/src/demo/aptos/aptos-ledger.ts';
export {
  type CompiledContract,
  compileDemoContracts,
  compileSolidity,
  DEMO_TOKEN_ABI,
} from 'chainstead/src/demo/devnet/compile-solidity.ts';
export {
  type Devnet,
  type DevnetCall,
  firstLine,
  spawnDependent,
  startDevnet,
} from 'chainstead/src/demo/devnet/devnet.ts';
export {
  deployExchanges,
  type ExchangeDevnet,
  readExchangeArtifact,
} from 'chainstead/src/demo/exchanges/exchange-devnet.ts';
export type { ExchangePool } from 'chainstead/src/demo/exchanges/exchange-pool.ts';
export { type DeployedContract, deployMarket, type Market } from 'chainstead/src/demo/market/market.ts';
export { createMarketScript } from 'chainstead/src/demo/market/market-script.ts';
export type { ExpectedTrade } from 'chainstead/src/demo/market/market-stall.ts';
export { listenOnLoopback } from 'chainstead/src/demo/network/loopback-server.ts';
export {
  type ReceivedWebhook,
  startWebhookReceiver,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from 'chainstead/src/demo/network/webhook-receiver.ts';
export type { AptosFaultSettings } from './aptos/aptos-faults.ts';
export { type AptosFullnode, startAptosFullnode } from './aptos/aptos-fullnode.ts';
export { readAptosTransactions } from './aptos/recorded-transactions.ts';
export { createBenchChain } from './bench/bench-chain.ts';
export { BENCH_CREATION_EVENT } from './bench/bench-children.ts';
export type { BenchMarketOptions } from './bench/bench-market.ts';
export { type BenchNode, type BenchNodeOptions, serveBenchChain, startBenchNode } from './bench/bench-node.ts';
export { checkAnswers } from './clients/check-answers.ts';
export { CLIENT_PROFILES, type ClientProfile } from './clients/client-profiles.ts';
export { findChromium } from './clients/find-chromium.ts';
export { bendMethods, takeTurns } from './clients/odd-client.ts';
export { type Moralis, type OfficialSdk, officialSdkScript, startOfficialSdk } from './clients/official-sdk.ts';
export { compileActivityContracts } from './contracts/activity-contracts.ts';
export { compileAssetContracts } from './contracts/asset-contracts.ts';
export { DEMO_NFT_ABI, unlessReverted } from './contracts/contract-calls.ts';
export { compileDecodingBomb } from './contracts/decoding-bomb.ts';
export { exampleChain } from './examples/example-chain.ts';
export { examplePool } from './examples/example-pool.ts';
export { addressOf, hashOf, timestampOf } from './examples/example-values.ts';
export type { FaultSettings } from './json-rpc/faults.ts';
export { type RpcHandler, type RpcReply, rpcError } from './json-rpc/json-rpc-reply.ts';
export { type NodeProxyOptions, startNodeProxy } from './json-rpc/node-proxy.ts';
export { postJson, requestNode } from './json-rpc/rpc-client.ts';
export { freePort } from './network/free-port.ts';
export { openSilentLine } from './network/silent-line.ts';
export { openSwitchedLine, type SwitchedLine } from './network/switched-line.ts';
export type { ChainSource, JsonObject, SourceBlock } from './nodes/chain-source.ts';
export { type ChainNode, serveChain } from './nodes/serve-chain.ts';
export { fillNotificationQueue } from './notification-queue.ts';
export { fieldsOfRow } from './postgres/binary-row.ts';
export { copyMigrations, type MigrationsCopy } from './postgres/copy-migrations.ts';
export { createPartitions } from './postgres/create-partitions.ts';
export { dyingDatabase, KilledError } from './postgres/dying-database.ts';
export {
  type Explained,
  explain,
  PLANS,
  type PlanKind,
  type PlanNode,
  partitionsRead,
  planNodes,
  rowsInto,
  rowsRead,
  rowsScanned,
} from './postgres/explain.ts';
export { pauseReplay, queryCluster } from './postgres/paused-replay.ts';
export { findCitus, type ScratchCitus } from './postgres/scratch-citus.ts';
export { findPostgresPrograms, type ScratchCluster } from './postgres/scratch-cluster.ts';
export {
  createScratchDatabase,
  type ScratchDatabase,
  type ScratchServer,
  startScratchServer,
} from './postgres/scratch-database.ts';
export { startScratchPgBouncer } from './postgres/scratch-pgbouncer.ts';
export { seedBuilt } from './postgres/seed-built.ts';
export { coverBlocks, storeBlocks, storeToken } from './postgres/stored-rows.ts';
export {
  compareTableRows,
  readTableRows,
  type TableDifference,
  type TableRows,
} from './postgres/table-rows.ts';
export { type Closable, closeOf } from './processes/closable.ts';
export {
  CONTAINER_HOOK_MS_MAX,
  CONTAINER_IMAGES,
  findDockerDaemon,
  type ScratchContainer,
  startPostgresContainer,
  startRedisContainer,
} from './processes/containers.ts';
export { countDeaths } from './processes/count-deaths.ts';
export { processorMs } from './processes/processor-ms.ts';
export {
  commandLineOf,
  descendantsOf,
  type Program,
  programToStart,
  readOfProcess,
  startProgram,
} from './processes/program.ts';
export { type ScratchRedis, startScratchRedis } from './processes/scratch-redis.ts';
export { atDepth } from './property-depth.ts';
export { chainOfBlocks, loadRecordedChain, serveRecordedChain } from './recorded/recorded-chain-node.ts';
export { recordedData, recordedEvmFolder } from './recorded/recorded-data.ts';
export { type RecordedExchange, readExchanges, serveExchanges } from './recorded/recorded-exchanges.ts';
export { listRecordedBlocks, readRecordedLogs } from './recorded/recorded-logs.ts';
export type { ExpectedNftMove, ScriptedBlock } from './scripted/scripted-block.ts';
export { createScriptedChain, type ScriptedChain, serveScriptedChain } from './scripted/scripted-chain.ts';
export { TRANSFER_TOPIC } from './scripted/scripted-event.ts';
export { MULTICALL3_ADDRESS, type ScriptedToken } from './scripted/scripted-tokens.ts';
export { type ScriptedCall, scriptedCalls, traceMethods } from './scripted/scripted-traces.ts';
export { SEAPORT_ADDRESS } from './scripted/seaport-sale-log.ts';
export { createSeededRandom, type SeededRandom } from './seeded-random.ts';
export { PORTAL_FIELDS, portalBlock, selected } from './sources/portal-rows.ts';
export { scriptedSigners } from './sources/scripted-signers.ts';
export { serveHyperSync } from './sources/serve-hypersync.ts';
export { servePortal } from './sources/serve-portal.ts';
export type { SourceFaultSettings } from './sources/source-faults.ts';
export type { SourceServer } from './sources/source-server.ts';
export { compress as compressFramed, type EraFolderOptions, writeEraFolder } from './sources/write-era.ts';
