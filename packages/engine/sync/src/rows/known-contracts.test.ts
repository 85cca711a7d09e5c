import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it } from 'vitest';
import {
  createKnownContracts,
  joinMentions,
  SEEN_AS,
  type SeenContract,
  writeContracts,
} from './known-contracts.ts';

const CHAIN = createChainRegistry().get('eth');
const address = (digit: string) => parseAddress(`0x${digit.repeat(40)}`);
const HYBRID = address('a');
const PLAIN = address('b');

describe('joinMentions', () => {
  it('gives each contract once with all that it is mentioned as, sorted', () => {
    const seen = joinMentions([
      { address: PLAIN, standard: 'erc20' },
      { address: HYBRID, standard: 'erc1155' },
      { address: HYBRID, standard: 'erc20' },
      { address: HYBRID, standard: 'erc1155' },
    ]);
    expect(seen).toEqual([
      { address: HYBRID, seenAs: SEEN_AS.erc20 | SEEN_AS.erc1155 },
      { address: PLAIN, seenAs: SEEN_AS.erc20 },
    ]);
  });
});

describe('createKnownContracts', () => {
  it('knows a contract only as what it was added as', () => {
    const known = createKnownContracts();
    known.add([{ address: HYBRID, seenAs: SEEN_AS.erc20 }]);
    expect(known.has({ address: HYBRID, seenAs: SEEN_AS.erc20 })).toBe(true);
    expect(known.has({ address: HYBRID, seenAs: SEEN_AS.erc20 | SEEN_AS.erc721 })).toBe(false);
    known.add([{ address: HYBRID, seenAs: SEEN_AS.erc721 }]);
    expect(known.has({ address: HYBRID, seenAs: SEEN_AS.erc20 | SEEN_AS.erc721 })).toBe(true);
    expect(known.has({ address: PLAIN, seenAs: SEEN_AS.erc20 })).toBe(false);
  });

  it('forgets contracts after a day, so that their use is noted again', () => {
    let now = 0;
    const known = createKnownContracts(10, () => now);
    known.add([{ address: HYBRID, seenAs: 1 }]);
    now = 86_400_000;
    known.add([{ address: PLAIN, seenAs: 1 }]);
    expect([HYBRID, PLAIN].map((one) => known.has({ address: one, seenAs: 1 }))).toEqual([false, true]);
  });

  it('holds no more contracts than its limit', () => {
    const known = createKnownContracts(1);
    known.add([{ address: HYBRID, seenAs: 1 }]);
    known.add([{ address: PLAIN, seenAs: 1 }]);
    expect([HYBRID, PLAIN].map((one) => known.has({ address: one, seenAs: 1 }))).toEqual([false, true]);
  });
});

describe('writeContracts', () => {
  const scratch = scratchOfFile();

  const write = (contracts: readonly SeenContract[], known = createKnownContracts()) =>
    scratch.database.transaction((transaction) => writeContracts(transaction, CHAIN, contracts, known));
  const stored = () =>
    scratch.database.query(
      sql`SELECT '0x' || encode(address, 'hex') AS address, seen_as, facts_status, xmin::text AS version FROM tokens ORDER BY address`,
    );

  it('adds what a contract is seen as later, and changes nothing where it adds nothing', async () => {
    await write([
      { address: HYBRID, seenAs: SEEN_AS.erc20 },
      { address: PLAIN, seenAs: SEEN_AS.erc20 },
    ]);
    const [, before] = await stored();
    await scratch.database.query(
      sql`UPDATE tokens SET facts_status = 'known' WHERE address = decode(${HYBRID.slice(2)}, 'hex')`,
    );
    await write([
      { address: HYBRID, seenAs: SEEN_AS.erc721 },
      { address: PLAIN, seenAs: SEEN_AS.erc20 },
    ]);
    expect(await stored()).toMatchObject([
      { address: HYBRID, seenAs: SEEN_AS.erc20 | SEEN_AS.erc721, factsStatus: 'known' },
      { address: PLAIN, seenAs: SEEN_AS.erc20 },
    ]);
    expect((await stored())[1]).toEqual(before);
  });

  it('makes outdated facts of a used contract due', async () => {
    const [week, hours] = ["now() - interval '8 days'", "now() - interval '30 hours'"];
    const rows = [
      [address('1'), 'known', `'Old'`, week],
      [address('2'), 'known', `'New'`, hours],
      [address('3'), 'known', `''`, hours],
      [address('4'), 'known', `'Never read'`, 'NULL'],
      [address('5'), 'failed', `'Old'`, week],
    ] as const;
    for (const [token, status, name, readAt] of rows)
      await scratch.database.query(
        sql`INSERT INTO tokens (address, chain_id, seen_as, facts_status, facts_due_at, name, facts_read_at) VALUES (decode(${token.slice(2)}, 'hex'), ${CHAIN.id}, 1, ${status}, NULL, ${rawSql(name)}, ${rawSql(readAt)})`,
      );
    await write(rows.map(([token]) => ({ address: token, seenAs: SEEN_AS.erc20 })));
    const due = await scratch.database.query(
      sql`SELECT '0x' || encode(address, 'hex') AS address FROM tokens WHERE facts_read_at IS NOT NULL AND facts_due_at <= now() ORDER BY address`,
    );
    expect(due).toEqual([{ address: address('1') }, { address: address('3') }]);
    await scratch.database.query(sql`DELETE FROM tokens`);
  });

  it('wakes those that read the facts of tokens, of new ones only', async () => {
    const woken: string[] = [];
    const add = (token: SeenContract['address']) =>
      scratch.database.transaction((transaction) =>
        writeContracts(
          { ...transaction, notify: (channel) => void woken.push(channel) },
          CHAIN,
          [{ address: token, seenAs: SEEN_AS.erc20 }],
          createKnownContracts(),
        ),
      );
    await add(address('7'));
    await add(address('7'));
    expect(woken).toEqual([`chainstead_due_token-facts_${CHAIN.id}`]);
  });

  it('asks the database only for what this process does not know', async () => {
    const known = createKnownContracts();
    known.add([{ address: PLAIN, seenAs: SEEN_AS.erc20 }]);
    const written = await write(
      [
        { address: HYBRID, seenAs: SEEN_AS.erc20 },
        { address: PLAIN, seenAs: SEEN_AS.erc20 },
      ],
      known,
    );
    expect(written.map((contract) => contract.address)).toEqual([HYBRID]);
  });
});
