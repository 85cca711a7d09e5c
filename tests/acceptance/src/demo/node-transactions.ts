import { type Address, parseAddress } from '@chainstead/core';
import type { Devnet } from '@chainstead/testkit';
import {
  decodeAbiParameters,
  type Hex,
  parseAbiParameters,
  type TransactionReceipt,
  toEventSelector,
} from 'viem';

/** Something that changed hands in a transaction. */
export interface NodeMove {
  /** A token's contract; `coin` for the chain's own. */
  readonly asset: string;
  readonly isNft: boolean;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
  /** The operator, if the event contains it. */
  readonly operator: Address | null;
}

/** An allowance that an account gave or took back. */
interface NodeApproval {
  readonly owner: Address;
  readonly isGiven: boolean;
}

/** A transaction as the node has it, with what its logs say, read by nothing of ours. */
export interface NodeTransaction {
  readonly hash: string;
  readonly from: Address;
  readonly to: Address | null;
  readonly created: Address | null;
  readonly succeeded: boolean;
  /** Its entry in the API list, in the same order. */
  readonly facts: readonly string[];
  /** By log; what the transaction itself moves is the first. */
  readonly moves: readonly NodeMove[];
  readonly approvals: readonly NodeApproval[];
}

export const COIN = 'coin';

/** All transactions of the node's chain, in order. */
export async function readNodeTransactions({ client }: Devnet): Promise<NodeTransaction[]> {
  const head = await client.getBlockNumber({ cacheTime: 0 });
  const all: NodeTransaction[] = [];
  for (let number = 0n; number <= head; number++) {
    const block = await client.getBlock({ blockNumber: number, includeTransactions: true });
    for (const transaction of block.transactions) {
      const receipt = await client.getTransactionReceipt({ hash: transaction.hash });
      all.push(nodeTransaction(transaction, receipt, new Date(Number(block.timestamp) * 1_000).toISOString()));
    }
  }
  return all;
}

function nodeTransaction(
  {
    hash,
    from,
    to,
    value,
    nonce,
    gas,
    input,
  }: {
    readonly hash: Hex;
    readonly from: Hex;
    readonly to: Hex | null;
    readonly value: bigint;
    readonly nonce: number;
    readonly gas: bigint;
    readonly input: Hex;
  },
  receipt: TransactionReceipt,
  time: string,
): NodeTransaction {
  const sender = parseAddress(from);
  const target = to === null ? null : parseAddress(to);
  const succeeded = receipt.status === 'success';
  const created = receipt.contractAddress == null ? null : parseAddress(receipt.contractAddress);
  const receiver = target ?? created;
  const own = { asset: COIN, isNft: false, from: sender, amount: value, operator: null };
  const facts = [
    ...[
      hash,
      receipt.blockNumber,
      receipt.blockHash,
      receipt.transactionIndex,
      time,
      sender,
      target,
      created,
      value,
    ],
    ...[
      nonce,
      gas,
      receipt.effectiveGasPrice,
      receipt.gasUsed,
      receipt.cumulativeGasUsed,
      succeeded ? 1 : 0,
      input,
    ],
  ];
  return {
    ...{ hash, from: sender, to: target, created, succeeded },
    facts: facts.map(String),
    moves: [
      ...(value > 0n && receiver !== null && succeeded ? [{ ...own, to: receiver }] : []),
      ...receipt.logs.flatMap(movesOf),
    ],
    approvals: receipt.logs.flatMap(approvalsOf),
  };
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)');
const SINGLE = toEventSelector('TransferSingle(address,address,address,uint256,uint256)');
const BATCH = toEventSelector('TransferBatch(address,address,address,uint256[],uint256[])');
const CONSECUTIVE = toEventSelector('ConsecutiveTransfer(uint256,uint256,address,address)');
const APPROVAL = toEventSelector('Approval(address,address,uint256)');
const APPROVAL_FOR_ALL = toEventSelector('ApprovalForAll(address,address,bool)');

type NodeLog = TransactionReceipt['logs'][number];

function movesOf({ address, topics, data }: NodeLog): NodeMove[] {
  const asset = address.toLowerCase();
  const [event, one, other, third] = topics;
  const between = (from: Hex | undefined, to: Hex | undefined) => ({ asset, from: party(from), to: party(to) });
  if (event === TRANSFER && topics.length === 3)
    return [{ ...between(one, other), isNft: false, amount: BigInt(data), operator: null }];
  if (event === TRANSFER && topics.length === 4)
    return [{ ...between(one, other), isNft: true, amount: 1n, operator: null }];
  if (event === SINGLE) {
    const [, amount] = decodeAbiParameters(parseAbiParameters('uint256, uint256'), data);
    return [{ ...between(other, third), isNft: true, amount, operator: party(one) }];
  }
  if (event === BATCH) {
    const [, amounts] = decodeAbiParameters(parseAbiParameters('uint256[], uint256[]'), data);
    return amounts.map((amount) => ({ ...between(other, third), isNft: true, amount, operator: party(one) }));
  }
  if (event === CONSECUTIVE) return [{ ...between(other, third), isNft: true, amount: 1n, operator: null }];
  return [];
}

/** An approval of one NFT alone is no allowance. */
function approvalsOf({ topics, data }: NodeLog): NodeApproval[] {
  const isAllowance = (topics[0] === APPROVAL && topics.length === 3) || topics[0] === APPROVAL_FOR_ALL;
  return isAllowance ? [{ owner: party(topics[1]), isGiven: BigInt(data) > 0n }] : [];
}

/** An address in a topic. */
function party(topic: Hex | undefined): Address {
  return parseAddress(`0x${topic?.slice(-40)}`);
}
