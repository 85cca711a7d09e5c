/**
 * For tests, the demo, the simulation and benchmarks: nodes with faults over recorded or scripted chains, a devnet,
 * scratch databases. No code of the product imports it. Start reading at `serve-chain.ts` and `faults.ts`.
 */

export { type AptosFaultSettings, type AptosFaults, NO_APTOS_FAULTS } from './aptos-faults.ts';
export {
  type AptosFullnode,
  type AptosFullnodeOptions,
  type ServedLedger,
  startAptosFullnode,
} from './aptos-fullnode.ts';
export {
  type AptosLedger,
  type AptosLedgerOptions,
  type AptosRestTransaction,
  createAptosLedger,
  readAptosTransactions,
} from './aptos-ledger.ts';
export { type BenchChain, type BenchChainFacts, type BenchChainOptions, createBenchChain } from './bench-chain.ts';
export { type BenchNode, type BenchNodeOptions, serveBenchChain, startBenchNode } from './bench-node.ts';
export type { CallOutcome, ChainSource, JsonObject, SourceBlock } from './chain-source.ts';
export { type DependentProcess, firstLine, spawnDependent } from './child-process.ts';
export { type CompiledContract, compileSolidity } from './compile-solidity.ts';
export {
  CONTAINER_HOOK_MS_MAX,
  CONTAINER_IMAGES,
  findDockerDaemon,
  type ScratchContainer,
  startPostgresContainer,
  startRedisContainer,
} from './containers.ts';
export { compileDecodingBomb } from './decoding-bomb.ts';
export { compileDemoContracts, DEMO_NFT_ABI, DEMO_TOKEN_ABI, type DemoContractName } from './demo-contracts.ts';
export { type Devnet, type DevnetCall, type DevnetOptions, startDevnet } from './devnet.ts';
export { createFaults, type FaultSettings, type Faults, NO_FAULTS, type ThrottleStyle } from './faults.ts';
export { freePort } from './free-port.ts';
export { type JsonPieces, type RpcErrorBody, type RpcHandler, type RpcReply, rpcError } from './json-rpc-reply.ts';
export { type JsonRpcServer, type JsonRpcServerOptions, startJsonRpcServer } from './json-rpc-server.ts';
export type { LogLimit, LogLimitStyle } from './log-limits.ts';
export { createLogPlayer, type LogPlayer, type LogPlayerOptions, type PlayedLog } from './log-player.ts';
export { type DeployedContract, deployMarket, FOUNDERS, type Market } from './market.ts';
export type { MarketSale } from './market-sales.ts';
export { createMarketScript, type MarketScript } from './market-script.ts';
export type { ExpectedTrade } from './market-stall.ts';
export { loadRecordedChain, type RecordedChainOptions, serveRecordedChain } from './recorded-chain-node.ts';
export { recordedEvmFolder, recordedFolder } from './recorded-data.ts';
export { type RecordedExchange, readExchanges, serveExchanges } from './recorded-exchanges.ts';
export { listRecordedBlocks, readRecordedLogs } from './recorded-logs.ts';
export type { RequestCounters, RequestCounts } from './request-counters.ts';
export { askNode, postJson } from './rpc-client.ts';
export {
  createScratchDatabase,
  type ScratchDatabase,
  type ScratchDatabaseOptions,
  type ScratchServer,
  type ScratchServerOptions,
  startScratchServer,
} from './scratch-database.ts';
export { type ScratchPgBouncer, startScratchPgBouncer } from './scratch-pgbouncer.ts';
export { flushRedis, type ScratchRedis, type ScratchRedisOptions, startScratchRedis } from './scratch-redis.ts';
export type { ExpectedNftMove, ExpectedNftSale, ExpectedTransfer, ScriptedBlock } from './scripted-block.ts';
export {
  createScriptedChain,
  type ScriptedChain,
  type ScriptedChainOptions,
  type ScriptedReorg,
  serveScriptedChain,
} from './scripted-chain.ts';
export { TRANSFER_TOPIC } from './scripted-event.ts';
export { MULTICALL3_ADDRESS, type ScriptedToken } from './scripted-tokens.ts';
export { SEAPORT_ADDRESS } from './seaport-sale-log.ts';
export { createSeededRandom, type SeededRandom } from './seeded-random.ts';
export { type ChainNode, type ServeChainOptions, serveChain } from './serve-chain.ts';
export { openSilentLine, type SilentLine } from './silent-line.ts';
export { TestkitError } from './testkit-error.ts';
export { unlessReverted } from './unless-reverted.ts';
export {
  type ReceivedWebhook,
  startWebhookReceiver,
  type WebhookAnswer,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './webhook-receiver.ts';
