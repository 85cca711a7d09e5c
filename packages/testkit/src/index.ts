/**
 * For tests, the demo, the simulation and benchmarks: nodes with faults over recorded or scripted chains, a devnet,
 * scratch databases. No code of the product imports it. Start reading at `serve-chain.ts` and `faults.ts`.
 */

export { compileActivityContracts } from './activity-contracts.ts';
export type { AptosFaultSettings } from './aptos-faults.ts';
export { type AptosFullnode, startAptosFullnode } from './aptos-fullnode.ts';
export { type AptosLedger, createAptosLedger, readAptosTransactions } from './aptos-ledger.ts';
export { compileAssetContracts } from './asset-contracts.ts';
export { createBenchChain } from './bench-chain.ts';
export { type BenchNode, type BenchNodeOptions, serveBenchChain, startBenchNode } from './bench-node.ts';
export { fieldsOfRow } from './binary-row.ts';
export type { ChainSource, JsonObject, SourceBlock } from './chain-source.ts';
export { checkAnswers } from './check-answers.ts';
export { firstLine, spawnDependent } from './child-process.ts';
export { CLIENT_PROFILES, type ClientProfile } from './client-profiles.ts';
export { type Closable, closeOf } from './closable.ts';
export { type CompiledContract, compileSolidity } from './compile-solidity.ts';
export {
  CONTAINER_HOOK_MS_MAX,
  CONTAINER_IMAGES,
  findDockerDaemon,
  type ScratchContainer,
  startPostgresContainer,
  startRedisContainer,
} from './containers.ts';
export { copyMigrations, type MigrationsCopy } from './copy-migrations.ts';
export { countDeaths } from './count-deaths.ts';
export { createPartitions } from './create-partitions.ts';
export { compileDecodingBomb } from './decoding-bomb.ts';
export { compileDemoContracts, DEMO_NFT_ABI, DEMO_TOKEN_ABI } from './demo-contracts.ts';
export { installDemoTools } from './demo-tools.ts';
export { type Devnet, type DevnetCall, startDevnet } from './devnet.ts';
export { dyingDatabase, KilledError } from './dying-database.ts';
export { exampleChain } from './example-chain.ts';
export { examplePool } from './example-pool.ts';
export { addressOf, hashOf, timestampOf } from './example-values.ts';
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
} from './explain.ts';
export type { FaultSettings } from './faults.ts';
export { findChromium } from './find-chromium.ts';
export { freePort } from './free-port.ts';
export { type RpcHandler, type RpcReply, rpcError } from './json-rpc-reply.ts';
export { listenOnLoopback } from './loopback-server.ts';
export { type DeployedContract, deployMarket, type Market } from './market.ts';
export { createMarketScript, type MarketScript } from './market-script.ts';
export type { ExpectedTrade } from './market-stall.ts';
export { type NodeProxyOptions, startNodeProxy } from './node-proxy.ts';
export { fillNotificationQueue } from './notification-queue.ts';
export { bendMethods, takeTurns } from './odd-client.ts';
export { type Moralis, type OfficialSdk, officialSdkScript, startOfficialSdk } from './official-sdk.ts';
export { askCluster, pauseReplay } from './paused-replay.ts';
export { processorMs } from './processor-ms.ts';
export { commandLineOf, descendantsOf, type Program, programToStart, startProgram } from './program.ts';
export { atDepth } from './property-depth.ts';
export { loadRecordedChain, serveRecordedChain } from './recorded-chain-node.ts';
export { recordedData, recordedEvmFolder } from './recorded-data.ts';
export { type RecordedExchange, readExchanges, serveExchanges } from './recorded-exchanges.ts';
export { listRecordedBlocks, readRecordedLogs } from './recorded-logs.ts';
export { askNode, postJson } from './rpc-client.ts';
export { findCitus, type ScratchCitus } from './scratch-citus.ts';
export { findPostgresPrograms, type ScratchCluster } from './scratch-cluster.ts';
export {
  createScratchDatabase,
  type ScratchDatabase,
  type ScratchServer,
  startScratchServer,
} from './scratch-database.ts';
export { startScratchPgBouncer } from './scratch-pgbouncer.ts';
export { flushRedis, type ScratchRedis, startScratchRedis } from './scratch-redis.ts';
export type { ExpectedNftMove, ScriptedBlock } from './scripted-block.ts';
export { createScriptedChain, type ScriptedChain, serveScriptedChain } from './scripted-chain.ts';
export { TRANSFER_TOPIC } from './scripted-event.ts';
export { MULTICALL3_ADDRESS, type ScriptedToken } from './scripted-tokens.ts';
export { type ScriptedCall, scriptedCalls, traceMethods } from './scripted-traces.ts';
export { SEAPORT_ADDRESS } from './seaport-sale-log.ts';
export { seedBuilt } from './seed-built.ts';
export { createSeededRandom, type SeededRandom } from './seeded-random.ts';
export { type ChainNode, serveChain } from './serve-chain.ts';
export { openSilentLine } from './silent-line.ts';
export { openSwitchedLine, type SwitchedLine } from './switched-line.ts';
export {
  compareTableRows,
  readTableRows,
  type TableDifference,
  type TableRows,
} from './table-rows.ts';
export { unlessReverted } from './unless-reverted.ts';
export {
  type ReceivedWebhook,
  startWebhookReceiver,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './webhook-receiver.ts';
