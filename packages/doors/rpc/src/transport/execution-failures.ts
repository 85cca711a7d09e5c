import type { ErrorRule } from './error-rule.ts';

/** They run a contract: errors may be the EVM's. */
export const EXECUTES: RegExp = /^(eth_call|eth_estimateGas|eth_createAccessList|debug_traceCall)$/;

/** About the request or the account. */
const NOT_OF_THE_EVM: ReadonlySet<number> = new Set([-32_700, -32_600, -32_601, -32_602, -32_005, 429]);

/** Hexadecimal, Parity's `Reverted 0x…`, or inside an object (Hardhat, Ganache). */
function isRevertData(data: unknown): boolean {
  if (typeof data === 'object' && data !== null && 'data' in data) return isRevertData(data.data);
  return typeof data === 'string' && /^(reverted )?0x([0-9a-f]{2})*$/i.test(data.trim());
}

/** Only a node that ran the call has it. */
export function hasRevertData({
  rpcCode,
  data,
}: {
  readonly rpcCode?: number;
  readonly data?: unknown;
}): boolean {
  return rpcCode !== undefined && !NOT_OF_THE_EVM.has(rpcCode) && isRevertData(data);
}

interface ExecutionRule extends Pick<ErrorRule, 'source' | 'text' | 'codes' | 'hasRevertData'> {
  /** Gas or time limit of this node; another's may be higher. */
  readonly isBound?: true;
}

/** Before all rules: a contract writes what follows "execution reverted". */
// biome-ignore format: a table reads best with one row a line
export const EXECUTION_RULES: readonly ErrorRule[] = ([
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
