import { isObject } from '@chainstead/core';
import type { Reaction } from '../errors.ts';
import type { FaultKind } from '../upstream-pool.ts';

const LOGS = /^(eth|erigon)_getLogs$/;

/** They run a contract: errors may be the EVM's. */
export const EXECUTES: RegExp = /^(eth_call|eth_estimateGas|eth_createAccessList|debug_traceCall)$/;

/** About the request or the account. */
const NOT_OF_THE_EVM: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602, -32_005, 429]);

/** Hexadecimal, Parity's `Reverted 0x…`, or inside an object (Hardhat, Ganache). */
function isRevertData(data: unknown): boolean {
  if (isObject(data) && 'data' in data) return isRevertData(data.data);
  return typeof data === 'string' && /^(reverted )?0x([0-9a-f]{2})*$/i.test(data.trim());
}

/** Only a node that ran the call has it. */
function hasRevertData({ rpcCode, data }: Pick<ErrorAnswer, 'rpcCode' | 'data'>): boolean {
  return rpcCode !== undefined && !NOT_OF_THE_EVM.has(rpcCode) && isRevertData(data);
}

interface ExecutionRule extends Pick<ErrorRule, 'source' | 'text' | 'codes' | 'hasRevertData'> {
  /** Gas or time limit of this node; another's may be higher. */
  readonly isBound?: true;
}

/** Before all rules: a contract writes what follows "execution reverted". */
// biome-ignore format: a table reads best with one row a line
const EXECUTION_RULES: readonly ErrorRule[] = ([
  { source: 'geth, Hedera, zkSync: revert code', codes: [3] },
  { source: 'any: revert data', hasRevertData: true },

  // Texts: reverts, then bounds, before the code that covers both.
  { source: 'any: revert', text: /execution reverted|^reverted|vm exception|transaction reverted|call reverted|evm revert|always failing transaction/i },
  { source: 'geth, Erigon: time', isBound: true, text: /execution aborted \(timeout/i },
  { source: 'Tron: time', isBound: true, text: /cpu timeout for '|already time out/i },
  { source: 'any: gas', isBound: true, text: /out ?of ?gas|gas uint64 overflow|gasuint64overflow|not enough gas|^\W*insufficient[_ ]gas\b/i },
  { source: 'Tron: energy', isBound: true, text: /out ?of ?energy|not enough energy/i },

  { source: 'OpenEthereum, Nethermind: VM error code', codes: [-32_015], text: /^(?!.*(time(d)?[- ]?out|timeout|deadline))/i },
  { source: 'OpenEthereum, Nethermind: VM error', text: /vm execution error/i },
  { source: 'geth, Erigon, Besu: jumps', text: /(invalid|bad)[ _]?jump/i },
  { source: 'any: opcodes', text: /invalid (opcode|operation code)|opcode 0x[0-9a-f]+ not defined|bad ?instruction|invalid[_ ]?operation\b|illegal operation|opcode ?not ?found|invalid ?fe ?opcode|designated ?invalid/i },
  { source: 'any: stack', text: /stack ?(under|over)flow|stack limit reached|out of stack|stack too (small|large|deep)|expected stack size|elements stack limit|(insufficient|too_many)_stack_items/i },
  { source: 'any: static calls', text: /write protection|static ?call ?violation|during ?static ?call|inside ?static ?(call|context)?|mutable call in static|illegal[_ ]state[_ ]change|local_call_modification_exception|state modifying opcode/i },
  { source: 'any: memory and return data', text: /return data out of bounds|out ?of ?offset|access ?violation|address out ?of ?range|^\W*out[_ ]of[_ ]bounds\b/i },
  { source: 'any: depth', text: /max call depth exceeded|call ?too ?deep/i },
  { source: 'any: created contracts', text: /contract address collision|create ?collision|max (init)?code size exceeded|(create|contract) ?(size|limit|contract ?size) ?limit|must not begin with 0xef|code[_ ](is )?too[_ ]large|code is invalid|nonce uint64 overflow/i },
  { source: 'any: precompiles', text: /precompile(d)?[_ ]?(contract )?(error|failed|failure)|built-in failed|bad elliptic curve|bn256: malformed|elliptic curve pairing/i },
  { source: 'any: value in a call', text: /insufficient balance for (transfer|call)|out ?of ?funds?\b|not ?enough ?balance/i },
  { source: 'Besu: halted', text: /transaction processing could not be completed due to an exception|execution halted/i },
  { source: 'reth, anvil, Frontier: EVM error', text: /^evm error\b(?!.*(database|storage|transport|fork|header))/i },
  { source: 'Hedera: status', text: /\bcontract_(revert_executed|execution_exception|bytecode_empty|negative_\w+)|\binvalid_(solidity_address|contract_id|fee_submitted|alias_key)\b|error_decoding_bytestring/i },
  { source: 'Tron: revert and halts', text: /revert opcode executed|isn't 'jumpdest'|org\.tron\.core\.vm|contract validate error|smart contract is not exist/i },
  { source: 'zkSync: VM', text: /error function_selector = 0x|account validation error|bootloader.{0,40}(failed|revert)/i },
  { source: 'Filecoin: exit code', text: /message execution failed|vm error=\[/i },
  { source: 'Hardhat: unexpected data', text: /function returned an unexpected amount of data|function call to a non-contract account|function selector was not recognized/i },
] satisfies ExecutionRule[]).map(({ isBound, ...rule }: ExecutionRule) => ({
  ...rule,
  reaction: 'call',
  methods: EXECUTES,
  execution: isBound === true ? 'bound' : 'failed',
}));

/** First match wins. Texts first: -32005 is both "results" and "requests", and codes change. */
// biome-ignore format: a table reads best with one row a line
export const ERROR_RULES: readonly ErrorRule[] = [
  // First, since "execution reverted: Unauthorized" is not about the upstream.
  ...EXECUTION_RULES,
  { source: 'any: revert outside a call', reaction: 'call', text: /execution reverted|^reverted|vm exception|invalid opcode|out of gas|always failing transaction|stack (under|over)flow/i },
  { source: 'any: revert code outside a call', reaction: 'call', codes: [3] },
  { source: 'OP sequencer: sender', reaction: 'call', text: /sender is over rate limit/i },

  // A key for old blocks does not refuse the whole upstream.
  { source: 'publicnode: archive needs a token', reaction: 'missing-data', isPruned: true, text: /archive requests require a personal token/i },
  { source: 'publicnode: getLogs without address', reaction: 'unsupported', text: /please specify an address in your request/i, methods: LOGS },

  // 1. Key or plan refused.
  { source: 'any: invalid key', reaction: 'misconfigured', text: /invalid (api|access|project) ?(key|id)|invalid api-?key|key is (inactive|invalid|disabled)|apikey is (invalid|on another chain)/i },
  { source: 'Alchemy: must be authenticated', reaction: 'misconfigured', text: /must be authenticated|be authenticated!?/i },
  { source: 'any: token or access key refused', reaction: 'misconfigured', text: /token is invalid|invalid token\b|no access key|access key (is )?(required|missing|invalid)/i },
  { source: 'QuickNode: unauthorized', reaction: 'misconfigured', text: /\bunauthori[sz]ed\b/i },
  { source: 'Ankr: no or invalid key', reaction: 'misconfigured', codes: [-32052] },
  { source: 'eRPC: authentication', reaction: 'misconfigured', codes: [-32016], text: /auth/i },

  // 2. Out of budget.
  { source: 'Alchemy: monthly capacity', reaction: 'out-of-budget', text: /monthly capacity limit/i },
  { source: 'any: plan used up', reaction: 'out-of-budget', text: /reached the free tier|limit for your current plan|\/billing\b|daily request count exceeded|quota has been (reached|exhausted)/i },
  { source: 'any: payment required', reaction: 'out-of-budget', http: [402] },

  // 3a. Throttles like size limits.
  { source: 'Alchemy: compute units', reaction: 'throttled', text: /compute units per second|exceeded its compute/i },
  { source: 'QuickNode, Base: requests a second', reaction: 'throttled', text: /\d+\s*\/\s*(second|sec|minute|min)\b.*(limit|reached)|request limit reached/i },
  { source: 'Flow gateway: requests a second', reaction: 'throttled', text: /limit of requests per (second|minute)/i },
  { source: 'Infura: project rate', reaction: 'throttled', text: /request rate (exceeded|limited)|rate[ -]?limit/i },
  { source: 'any: too many requests', reaction: 'throttled', text: /too many (requests|connections)|exceeded the quota|requests per (second|minute)|\bthrottl/i },
  { source: 'Sei, others: busy', reaction: 'throttled', text: /server too busy|under too much load|no server available|too many concurrent/i },
  { source: 'Cloudflare: 1015', reaction: 'throttled', text: /(error )?code: 1015\b/i },
  { source: 'BSC dataseed: refuses every getLogs', reaction: 'unsupported', text: /^limit exceeded$/i, codes: [-32005], methods: LOGS },
  { source: 'any: limit exceeded without more', reaction: 'throttled', text: /^limit exceeded$/i },

  // 3b. Batches.
  { source: 'geth: batch', reaction: 'batch-size', text: /batch (size )?(is )?too large|batch of more than|batch.{0,20}(limit|exceed)|max(imum)? batch size|too many (batch )?(calls|items)|batch size/i },
  { source: 'any: batch refused', reaction: 'batch-size', text: /batch(ed)? (requests?|calls?) (is|are) (not|disabled|un)|batching is not/i },

  // 3c. Results and bytes.
  { source: 'reth: results', reaction: 'density', text: /query exceeds max results [\d,]+/i },
  { source: 'geth-like, Infura, zkSync, Frontier, Ethermint: results', reaction: 'density', text: /query returned more than [\d,]+ (results|logs)/i },
  { source: 'Erigon: too many logs', reaction: 'density', text: /returns too many logs/i },
  { source: 'Nitro: logs matched', reaction: 'density', text: /logs matched by query exceeds limit/i },
  { source: 'HyperRPC: logs', reaction: 'density', text: /more than [\d,]+ logs|[\d,]+ logs returned/i },
  { source: 'Alchemy, thirdweb: log response size', reaction: 'density', text: /log response size exceeded/i },
  { source: '1RPC: bytes', reaction: 'density', text: /response size should not (be )?greater than/i },
  { source: 'reth (jsonrpsee): bytes', reaction: 'density', text: /response is too big|exceeded max limit of \d{6,}/i, methods: LOGS },
  { source: 'Monad: bytes', reaction: 'density', text: /response exceeds size limit/i, methods: LOGS },
  { source: 'proxyd, geth: bytes', reaction: 'density', text: /(backend )?response (is )?too large|response body.{0,20}too large/i, methods: LOGS },
  { source: 'any: bytes outside getLogs', reaction: 'batch-size', text: /response (size )?(is )?(too (large|big)|exceed)|response size should not|response body.{0,20}too large|exceeded max limit of \d{6,}|max(imum)? response size/i },
  { source: 'geth: from above to', reaction: 'caller', text: /invalid block range params/i },
  { source: 'geth: addresses or topics', reaction: 'caller', text: /exceed max (addresses|topics)/i },
  { source: 'Infura: filters', reaction: 'caller', text: /this query contains \d+ filters/i },

  // 3d. Above the head (before the caps: reth's text contains "range").
  { source: 'geth, reth, Erigon: beyond head', reaction: 'beyond-head', text: /block range extends beyond current head/i },
  { source: 'Erigon: beyond executed', reaction: 'beyond-head', text: /beyond latest executed block|transaction indexing is (in progress|not yet complete)/i },
  { source: 'coreth: after accepted', reaction: 'beyond-head', text: /after last accepted block|cannot query unfinalized data/i },
  { source: 'Sei: beyond latest', reaction: 'beyond-head', text: /is after latest available block|greater than latest/i },

  // 3e. Caps of blocks.
  { source: 'Alchemy free and paid: blocks', reaction: 'range', text: /up to a [\d,.]+ block range/i },
  { source: 'QuickNode, Blast, BlockPI, 1RPC: blocks', reaction: 'range', text: /limited to a? ?[\d,.]+/i, methods: LOGS },
  { source: 'Blast API: plan', reaction: 'range', text: /exceeds the range allowed for your plan/i },
  { source: 'reth, HyperEVM: blocks', reaction: 'range', text: /query exceeds max block range/i },
  { source: 'bsc, bor, publicnode: blocks', reaction: 'range', text: /exceed(s|ed)? max(imum)? block range/i },
  { source: 'Infura 2026: blocks', reaction: 'range', text: /range [\d,]+ exceeds limit of [\d,]+/i },
  { source: 'Ronin: blocks', reaction: 'range', text: /requested block range [\d,]+ exceeds the limit of/i },
  { source: 'Tatum: blocks', reaction: 'range', text: /requested range is over limit of/i },
  { source: 'besu: blocks', reaction: 'range', text: /requested range exceeds maximum rpc range limit/i },
  { source: 'Avalanche: blocks (distance)', reaction: 'range', text: /requested too many blocks from/i, adjust: -1 },
  { source: 'Frontier: blocks', reaction: 'range', text: /block range is too wide/i },
  { source: 'Ethermint: distance', reaction: 'range', text: /blocks distance: ?[\d,]+/i },
  { source: 'Sei: blocks', reaction: 'range', text: /block range too large \(\d+\), maximum allowed is/i },
  { source: 'Monad: blocks', reaction: 'range', text: /block range too large/i, assumeBlocks: 1000 },
  { source: 'thirdweb: blocks', reaction: 'range', text: /maximum allowed number of requested blocks/i },
  { source: 'Coinbase: blocks (distance)', reaction: 'range', text: /limit the query to at most [\d,]+ blocks/i, adjust: -1 },
  { source: 'Cloudflare: blocks (distance)', reaction: 'range', text: /max range: ?[\d,]+/i, adjust: -1 },
  { source: 'Merkle: thousands of blocks', reaction: 'range', text: /range is too large, max is \d+k blocks/i },
  { source: 'dRPC free: blocks', reaction: 'range', text: /ranges over [\d,]+ blocks are not supported/i },
  { source: 'Chainstack: blocks', reaction: 'range', text: /block range limit exceeded/i, assumeBlocks: 100 },
  { source: 'eRPC: blocks', reaction: 'range', text: /exceeded max allowed range|range threshold exceeded/i },
  { source: 'Ankr, proxyd: blocks', reaction: 'range', text: /(block )?range is too (large|wide)|range too (large|wide)/i, methods: LOGS },
  { source: 'eRPC, Ankr: range code', reaction: 'range', codes: [-32012, -32062], methods: LOGS },
  { source: 'QuickNode: range code', reaction: 'range', codes: [-32614], methods: LOGS },

  // 4. Throttles by code.
  { source: 'any: HTTP 429', reaction: 'throttled', http: [429] },
  { source: 'any: code 429 in HTTP 200, QuickNode, others', reaction: 'throttled', codes: [429, -32007, -32009, -32029, -32097] },

  // 5. Missing data.
  { source: 'any: pruned', reaction: 'missing-data', isPruned: true, text: /pruned|pruning|history unavailable|no historical rpc/i },
  { source: 'geth, Erigon, reth: state', reaction: 'missing-data', isPruned: true, text: /missing trie node|historical state|no state available|trie does not|world state unavailable|state (is )?not available|historical state/i },
  { source: 'reth, Erigon: proofs', reaction: 'missing-data', isPruned: true, text: /maximum proof window|requested block is too old/i },
  { source: 'Chainstack, QuickNode, others: archive plans', reaction: 'missing-data', isPruned: true, text: /\barchiv(e|al)\b/i },
  { source: 'any: block', reaction: 'missing-data', text: /header not found|could not find block|unknown block|block (\w+ )?not found|block requested not found|block with such an id|expect block number from id|not currently canonical|invalid block ?hash/i },
  { source: 'Cosmos, Flow, HyperEVM: height', reaction: 'missing-data', text: /height must be less than or equal|height is not available|block height passed is invalid|invalid block height|invalid height not in|could not find finalizeblock|requested data is not available/i },
  { source: 'old geth: receipts gone', reaction: 'missing-data', text: /failed to get logs for block/i },
  { source: 'any: transaction', reaction: 'missing-data', text: /transaction not found/i },
  { source: 'geth, reth, Nethermind, besu: missing code', reaction: 'missing-data', codes: [4444, -39001, -32014] },
  { source: 'Ankr: no nodes', reaction: 'transient', codes: [-32055] },

  // 6. Time.
  { source: 'Infura, geth: query time', reaction: 'timeout', text: /execution timeout|query timeout|request timed out|timeout expired|context deadline exceeded|timeout on the free tier|timed out/i },
  { source: 'Base, proxyd: no backend for a query that large', reaction: 'timeout', text: /no backend is currently healthy/i, methods: LOGS },
  { source: 'any: HTTP timeout', reaction: 'timeout', http: [408, 504, 524] },
  { source: 'dRPC, eRPC, geth: timeout code', reaction: 'timeout', codes: [30, -32015] },

  // 7. Method.
  { source: 'any: method', reaction: 'unsupported', text: /method .{0,60}(not found|does not exist|is not available|not supported|not enabled|is disabled)|unsupported method|method not (found|enabled|supported|available)|not whitelisted|is not included in your current plan|rpc method is unsupported|the method .{0,60} (does not exist|is not)/i },
  { source: 'any: disabled', reaction: 'unsupported', text: /\bis disabled\b|not implemented/i },
  { source: 'any: method code', reaction: 'unsupported', codes: [-32601, -32004, -32604, -32612, -32613] },
  { source: 'dRPC: not on this plan', reaction: 'unsupported', codes: [35] },
  { source: 'any: HTTP method', reaction: 'unsupported', http: [405, 415] },

  // 8. Verdicts about the call.
  { source: 'any: transaction verdict', reaction: 'call', text: /nonce too (low|high)|already known|known transaction|already imported|insufficient (funds|balance)|replacement transaction|transaction underpriced|underpriced|intrinsic gas|max fee per gas|fee cap|exceeds block gas limit|gas required exceeds|higher priority|fee too low|tx type not supported|invalid sender|invalid signature|transaction type not supported/i },

  // 1 again: only the status.
  { source: 'any: HTTP 401 and 403', reaction: 'misconfigured', http: [401, 403] },
  { source: 'Nethermind: limit', reaction: 'density', codes: [-32005], text: /limit|exceed/i, methods: LOGS },
  { source: 'any: HTTP 413', reaction: 'density', http: [413], methods: LOGS },
  { source: 'any: HTTP 413 outside getLogs', reaction: 'batch-size', http: [413] },
  { source: 'geth, reth: response size code', reaction: 'density', codes: [-32003, -32008], methods: LOGS },
  { source: 'geth, reth: response size code', reaction: 'batch-size', codes: [-32003, -32008] },
  { source: 'Nethermind, geth: timeout code', reaction: 'timeout', codes: [-32002, -32016, -32017] },
  { source: 'any: rate code', reaction: 'throttled', codes: [-32005] },

  // A smaller range is the safe guess.
  { source: 'unknown: smells of size', reaction: 'density', text: /too (many|large|big|wide|broad|long)|exceed|maximum|\blimit|block range|more than/i, methods: LOGS },

  // 9. Parameters.
  { source: 'any: parameters', reaction: 'caller', codes: [-32602, -32600, -32700] },
  { source: 'any: HTTP 400', reaction: 'caller', http: [400] },
];

interface ErrorAnswer {
  readonly method: string;
  readonly text: string;
  readonly rpcCode?: number | undefined;
  readonly httpStatus?: number | undefined;
  readonly data?: unknown;
}

interface Classification {
  readonly reaction: Reaction;
  readonly kind: FaultKind;
  readonly rule: ErrorRule | null;
  readonly limitBlocks?: number | undefined;
  readonly limitResults?: number | undefined;
  readonly suggestedRange?: { readonly from: number; readonly to: number } | undefined;
}

const KINDS: Record<Reaction, FaultKind> = {
  misconfigured: 'unauthorized',
  'out-of-budget': 'rate-limited',
  range: 'range-limit',
  density: 'range-limit',
  throttled: 'rate-limited',
  'missing-data': 'missing-block',
  'beyond-head': 'lagging',
  timeout: 'timeout',
  unsupported: 'rpc-error',
  'batch-size': 'rpc-error',
  call: 'rpc-error',
  caller: 'rpc-error',
  transient: 'rpc-error',
};

export function classifyError(answer: ErrorAnswer): Classification {
  const rule = ERROR_RULES.find((candidate) => matches(candidate, answer)) ?? null;
  const reaction = rule?.reaction ?? 'transient';
  const kind = reaction === 'transient' && answer.rpcCode === undefined ? 'http-status' : KINDS[reaction];
  if (reaction !== 'range' && reaction !== 'density') return { reaction, kind, rule };
  const limitBlocks = reaction === 'range' ? (findBlockLimit(answer.text) ?? rule?.assumeBlocks) : undefined;
  return {
    reaction,
    kind,
    rule,
    suggestedRange: findSuggestedRange(answer.text),
    limitBlocks: limitBlocks && Math.max(1, limitBlocks + (rule?.adjust ?? 0)),
    limitResults: reaction === 'density' ? findResultLimit(answer.text) : undefined,
  };
}

const ABOUT_THE_ACCOUNT: ReadonlySet<Reaction> = new Set(['misconfigured', 'out-of-budget', 'throttled']);
const TOO_MANY_REQUESTS = 429;

/** A client's call, or a text that a contract may have written. */
interface ForeignClassification extends Classification {
  /** A status or code proves it, which no text can forge. */
  readonly isSure: boolean;
}

/** Status and code win over text, which may echo. Only a throttle's numeric code is sure. */
export function classifyForeignError(answer: ErrorAnswer): ForeignClassification {
  const reported = classifyError(answer);
  if (!ABOUT_THE_ACCOUNT.has(reported.reaction)) return { ...reported, isSure: false };
  const { rpcCode, httpStatus } = answer;
  const bare = classifyError({ ...answer, text: '' });
  if (httpStatus === TOO_MANY_REQUESTS || rpcCode === TOO_MANY_REQUESTS)
    return { reaction: 'throttled', kind: KINDS.throttled, rule: bare.rule, isSure: true };
  const isTheCallers = bare.reaction === 'caller' || bare.reaction === 'unsupported';
  return { ...(isTheCallers ? bare : reported), isSure: false };
}

function matches(rule: ErrorRule, answer: ErrorAnswer): boolean {
  if (rule.methods !== undefined && !rule.methods.test(answer.method)) return false;
  if (rule.text !== undefined && !rule.text.test(answer.text)) return false;
  if (rule.codes !== undefined && (answer.rpcCode === undefined || !rule.codes.includes(answer.rpcCode)))
    return false;
  if (rule.http !== undefined && (answer.httpStatus === undefined || !rule.http.includes(answer.httpStatus)))
    return false;
  return rule.hasRevertData !== true || hasRevertData(answer);
}

const BLOCK_LIMITS: readonly RegExp[] = [
  /limited to a? ?([\d,.]*\d)/i,
  /up to a ([\d,.]*\d)(k?) block range/i,
  /max(?:imum)? is ([\d,]+)(k?) blocks/i,
  /max range: ?([\d,]+)/i,
  /max(?:imum)? block range:? ([\d,]+)/i,
  /maximum is set to ([\d,]+)/i,
  /maximum allowed number of requested blocks is ([\d,]+)/i,
  /maximum allowed is ([\d,]+) blocks/i,
  /at most ([\d,.]*\d) blocks/i,
  /limit of ([\d,]+)/i,
  /\(maximum ([\d,]+)\)/i,
  /distance: ?([\d,]+)/i,
  /\([\d,]+ > ([\d,]+)\)/i,
  /ranges over ([\d,]+) blocks/i,
];

export function findBlockLimit(text: string): number | undefined {
  for (const pattern of BLOCK_LIMITS) {
    const match = pattern.exec(text);
    if (match?.[1] === undefined) continue;
    const limit = Number(match[1].replaceAll(/[,.]/g, '')) * (match[2]?.toLowerCase() === 'k' ? 1000 : 1);
    if (Number.isSafeInteger(limit) && limit > 0) return limit;
  }
  return undefined;
}

function findResultLimit(text: string): number | undefined {
  const match = /(?:more than|max results|filter:|query exceeds limit of) ([\d,]+)|cap of (\d+)K logs/i.exec(
    text,
  );
  if (match === null) return undefined;
  const limit = match[1] === undefined ? Number(match[2]) * 1000 : Number(match[1].replaceAll(',', ''));
  return Number.isSafeInteger(limit) && limit > 0 ? limit : undefined;
}

/** `[0x1, 0x2]` or `1-2`. */
export function findSuggestedRange(text: string): { from: number; to: number } | undefined {
  const hex = /\[(0x[0-9a-f]+), ?(0x[0-9a-f]+)\]/i.exec(text);
  const match = hex ?? /retry with the range (\d+)-(\d+)/i.exec(text);
  if (match === null) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2]);
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from <= to ? { from, to } : undefined;
}

interface ErrorRule {
  readonly source: string;
  readonly reaction: Reaction;
  readonly text?: RegExp;
  readonly codes?: readonly number[];
  readonly http?: readonly number[];
  readonly hasRevertData?: true;
  /** `failed` in the EVM, or at a `bound` of this node (another is tried). */
  readonly execution?: 'failed' | 'bound';
  readonly methods?: RegExp;
  /** To the text's number: some report a distance, not a count. */
  readonly adjust?: number;
  readonly assumeBlocks?: number;
  /** Only archive nodes retain the data. */
  readonly isPruned?: boolean;
}
