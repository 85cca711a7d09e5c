/** The real program over a real node: what it says that wallets hold is what their contracts say, or it does not say it. */
import type { Address } from '@chainstead/core';
import {
  type CompiledContract,
  compileDemoContracts,
  compileSolidity,
  type Devnet,
  type Program,
  type ScratchDatabase,
} from '@chainstead/testkit';
import { erc20Abi } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type DevnetProgramStage, openDevnetProgramStage } from './devnet-program.ts';

const KEY = 'acceptance-key-0123456789';
const CHAIN_ID = 1_337_032;

const ODD_TOKENS = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

abstract contract Odd {
    event Transfer(address indexed from, address indexed to, uint256 value);
    mapping(address => uint256) internal units;

    function transfer(address to, uint256 value) public virtual returns (bool) {
        units[msg.sender] -= value;
        units[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

contract Rebasing is Odd {
    uint256 private percent = 100;

    function mint(address to, uint256 value) external {
        units[to] += value;
        emit Transfer(address(0), to, value);
    }

    function rebase(uint256 next) external {
        percent = next;
    }

    function balanceOf(address owner) external view returns (uint256) {
        return (units[owner] * percent) / 100;
    }
}

contract Lying is Odd {
    function pretend(address to, uint256 value) external {
        emit Transfer(address(0), to, value);
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }
}

contract Wrapped is Odd {
    function deposit() external payable {
        units[msg.sender] += msg.value;
    }

    function balanceOf(address owner) external view returns (uint256) {
        return units[owner];
    }
}
`;

let devnet: Devnet;
let scratch: ScratchDatabase;
let stage: DevnetProgramStage;
let program: Program;
let contracts: Readonly<Record<'plain' | 'rebasing' | 'lying' | 'wrapped', CompiledContract>>;
let tokens: Readonly<Record<keyof typeof contracts, Address>>;
let [alice, bob]: Address[] = [];

beforeAll(async () => {
  stage = await openDevnetProgramStage(CHAIN_ID);
  ({ devnet, scratch } = stage);
  const [demo, odd] = await Promise.all([compileDemoContracts(), compileSolidity({ 'Odd.sol': ODD_TOKENS })]);
  const oddToken = (name: string): CompiledContract => {
    const found = odd.get(name);
    if (found === undefined) throw new Error(`${name} was not compiled`);
    return found;
  };
  contracts = {
    plain: demo.DemoToken,
    rebasing: oddToken('Rebasing'),
    lying: oddToken('Lying'),
    wrapped: oddToken('Wrapped'),
  };
  [, alice, bob] = devnet.accounts;
  program = stage.start(KEY, {
    START_BLOCK_DEVNET: '0',
    BALANCE_MAX_AGE_MS: '0',
    INDEX_WAIT_MS: '10000',
  });
  await program.url;
  tokens = {
    plain: await devnet.deploy(contracts.plain, ['Demo Dollar', 'DUSD', 6]),
    rebasing: await devnet.deploy(contracts.rebasing),
    lying: await devnet.deploy(contracts.lying),
    wrapped: await devnet.deploy(contracts.wrapped),
  };
});
afterAll(() => stage?.close());

type Kind = keyof typeof contracts;

const call = (kind: Kind, functionName: string, args: readonly unknown[], from?: Address, value?: bigint) =>
  devnet.send({
    address: tokens[kind],
    abi: contracts[kind].abi,
    functionName,
    args,
    ...(from === undefined ? {} : { from }),
    ...(value === undefined ? {} : { value }),
  });

interface Row {
  readonly token_address: Address;
  readonly balance: string;
  readonly balance_block: string;
}

async function ask(path: string): Promise<Response> {
  const answer = await fetch(`${await program.url}/api/v2.2${path}`, { headers: { 'x-api-key': KEY } });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}\n${program.output()}`);
  return answer;
}

/** Once the newest block is indexed, and nothing is missing. */
async function balancesOf(wallet: Address | undefined): Promise<ReadonlyMap<Address, string>> {
  return vi.waitFor(
    async () => {
      const head = await devnet.client.getBlockNumber();
      const answer = await ask(`/${wallet}/erc20?chain=devnet&exclude_spam=false`);
      expect(answer.headers.get('x-indexed-complete')).toBe('true');
      expect(answer.headers.get('x-indexed-to-block')).toBe(`${head}`);
      const rows = (await answer.json()) as Row[];
      for (const row of rows) expect([row, await balanceAt(row, wallet)]).toEqual([row, BigInt(row.balance)]);
      return new Map(rows.map((row) => [row.token_address, row.balance]));
    },
    { timeout: 60_000, interval: 100 },
  );
}

/** What the contract said after the block that the row says it is of. */
function balanceAt(
  { token_address: address, balance_block: block }: Row,
  wallet: Address | undefined,
): Promise<bigint> {
  if (wallet === undefined) throw new Error('The devnet has too few accounts');
  const given = { address, abi: erc20Abi, functionName: 'balanceOf', args: [wallet] } as const;
  return devnet.client.readContract({ ...given, blockNumber: BigInt(block) });
}

/** What the contracts say now, zero left out. */
async function truthOf(wallet: Address | undefined): Promise<ReadonlyMap<Address, string>> {
  if (wallet === undefined) throw new Error('The devnet has too few accounts');
  const entries = await Promise.all(
    Object.values(tokens).map(async (address): Promise<[Address, bigint]> => {
      const given = { address, abi: erc20Abi, functionName: 'balanceOf', args: [wallet] } as const;
      return [address, await devnet.client.readContract(given)];
    }),
  );
  return new Map(entries.flatMap(([token, balance]) => (balance === 0n ? [] : [[token, balance.toString()]])));
}

/** A token that was asked just before the newest block came is of the block before, and says so. */
async function expectTruth(): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const wallet of [alice, bob]) {
        const told = await balancesOf(wallet);
        expect(Object.fromEntries(told)).toEqual(Object.fromEntries(await truthOf(wallet)));
      }
    },
    { timeout: 30_000, interval: 200 },
  );
}

test('balances are what contracts say, of tokens that add up and of those that do not', async () => {
  for (const kind of ['plain', 'rebasing'] as const) await call(kind, 'mint', [alice, 1_000n]);
  await call('lying', 'pretend', [alice, 500n]);
  await call('wrapped', 'deposit', [], bob, 300n);
  await call('wrapped', 'transfer', [alice, 100n], bob);
  await expectTruth();
  await call('plain', 'transfer', [bob, 250n], alice);
  await call('lying', 'pretend', [bob, 500n]);
  await call('lying', 'pretend', [alice, 500n]);
  await call('wrapped', 'deposit', [], alice, 7n);
  await expectTruth();
  await call('rebasing', 'rebase', [110n]);
  // It is found out when what it moves, or a day, shows it.
  await call('rebasing', 'transfer', [bob, 10n], alice);
  await scratch.database.query(`UPDATE erc20_wallet_tokens SET anchored_at = anchored_at - interval '25 hours'`);
  await ask(`/${alice}/erc20?chain=devnet`);
  await ask(`/${bob}/erc20?chain=devnet`);
  await expectTruth();
});

test('a reorganisation takes back what moved in it', async () => {
  await call('plain', 'transfer', [bob, 1n], alice);
  await expectTruth();
  await call('plain', 'transfer', [bob, 2n], alice);
  await expectTruth();
  await devnet.reorg(2);
  await devnet.mine(3);
  await expectTruth();
});

test('pages have the coin first, then tokens', async () => {
  const answer = await ask(`/wallets/${alice}/tokens?chain=devnet&limit=1`);
  const page = (await answer.json()) as { cursor: string; block_number: number; result: Row[] };
  expect(page.result).toMatchObject([{ token_address: '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee' }]);
  const seen: string[] = [];
  for (let cursor: string | null = page.cursor; cursor !== null; ) {
    const next = await ask(`/wallets/${alice}/tokens?cursor=${encodeURIComponent(cursor)}`);
    const body = (await next.json()) as { cursor: string | null; result: Row[] };
    seen.push(...body.result.map((row) => `${row.token_address} ${row.balance}`));
    cursor = body.cursor;
  }
  const truth = [...(await truthOf(alice))].map(([token, balance]) => `${token} ${balance}`);
  expect(seen.toSorted()).toEqual(truth.toSorted());
}, 60_000);
