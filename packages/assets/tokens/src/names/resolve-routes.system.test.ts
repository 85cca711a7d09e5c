import { sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { encodeAbiParameters, getAddress, type Hex, namehash, toHex } from 'viem';
import { packetToBytes } from 'viem/ens';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readStoredName } from './resolve-names.ts';
import { type NameStage, openNameStage } from './testing/name-stage.ts';

const OWNER = getAddress(addressOf(0xd8da6bf2));
const OTHER = getAddress(addressOf(0x07e3));
const NOBODY = getAddress(addressOf(0xdead));

let opened: NameStage;
beforeAll(async () => {
  opened = await openNameStage();
  const { resolver, registries, set } = opened;
  for (const [name, address] of [
    ['vitalik.eth', OWNER],
    ['other.eth', OTHER],
    ['slow.eth', OTHER],
    ['ni❤.eth', OTHER],
  ] as const)
    await set(resolver, 'setAnswer', dnsName(name), addressWord(address));
  await set(resolver, 'setAnswer', dnsName('none.eth'), addressWord(`0x${'00'.repeat(20)}`));
  await set(resolver, 'setAnswer', dnsName('broken.eth'), '0x1234');
  await set(resolver, 'setGateway', dnsName('far.eth'), 'https://gateway.example.com/{sender}/{data}');
  await set(resolver, 'setName', OWNER, 'vitalik.eth');
  const [polygon, base] = registries;
  await set(polygon, 'setRecord', tokenId('brad.crypto'), 'crypto.ETH.address', OWNER.toLowerCase());
  await set(polygon, 'setRecord', tokenId('new.crypto'), 'token.EVM.ETH.ETH.address', OTHER);
  await set(polygon, 'setRecord', tokenId('bad.crypto'), 'crypto.ETH.address', '0x12');
  await set(base, 'setRecord', tokenId('based.nft'), 'crypto.ETH.address', OTHER);
  await set(polygon, 'setName', OWNER, 'brad.crypto');
  await set(base, 'setName', OTHER, 'based.nft');
});
afterAll(() => opened.close());
beforeEach(() => opened.reset());

const dnsName = (name: string): Hex => toHex(packetToBytes(name));
const addressWord = (address: Hex): Hex => encodeAbiParameters([{ type: 'address' }], [address]);
const tokenId = (name: string): bigint => BigInt(namehash(name));

function calls(): number {
  return opened.stage.node.received.filter(({ method }) => method === 'eth_call').length;
}

describe('the official SDK', () => {
  test('resolves names of Unstoppable, and addresses', async () => {
    const { resolve } = opened.sdk.EvmApi;
    expect((await resolve.resolveDomain({ domain: 'brad.crypto' }))?.raw).toEqual({ address: OWNER });
    expect((await resolve.resolveDomain({ domain: 'vitalik.eth', currency: 'eth' }))?.raw).toEqual({
      address: OWNER,
    });
    expect((await resolve.resolveAddressToDomain({ address: OWNER } as never)).raw).toEqual({
      name: 'brad.crypto',
    });
    expect(await resolve.resolveDomain({ domain: 'nobody.crypto' })).toBeNull();
    await expect(resolve.resolveAddressToDomain({ address: NOBODY } as never)).rejects.toThrow(
      'no name of this address',
    );
  });
});

describe('a name', () => {
  test.each([
    ['ens/VITALIK.eth', OWNER],
    ['ens/ni%E2%9D%A4%EF%B8%8F.eth', OTHER],
    ['new.crypto', OTHER],
    ['based.nft?currency=0x1', OTHER],
  ])('%s is read in its normal form', async (path, address) => {
    expect(await opened.ask(path)).toMatchObject({ status: 200, body: { address } });
  });

  test.each(['ens/none.eth', 'ens/broken.eth', 'ens/nobody.eth', 'bad.crypto', 'nobody.crypto', 'other.eth.nft'])(
    '%s that leads to no address is 404',
    async (path) => {
      expect(await opened.ask(path)).toMatchObject({ status: 404, body: { message: 'no address of this name' } });
    },
  );

  test.each([
    'ens/vita%20lik.eth',
    'ens/a..eth',
    'ens/vitalik.eth%EF%BF%BC',
    'a_b%2F.eth',
    `ens/${'a'.repeat(1_001)}`,
    'ens/аpple.eth',
  ])('%s that does not normalise is 400, and nothing is asked', async (path) => {
    const before = calls();
    const { status, body } = await opened.ask(path);
    expect([status, Object(body).message]).toEqual([
      400,
      expect.stringMatching(
        /^domain must be a name that ENSIP-15 normalises, such as vitalik\.eth, ".*" was given$/,
      ),
    ]);
    expect(calls()).toBe(before);
  });

  test('of another coin is 400', async () => {
    expect(await opened.ask('brad.crypto?currency=btc')).toMatchObject({
      status: 400,
      body: {
        message: 'currency must be eth or 0x1, "btc" was given',
        details: { errors: [{ parameter: 'currency', given: 'btc', allowed: 'eth or 0x1' }] },
      },
    });
  });

  test('that is kept off chain is 404 with the reason, and no gateway is asked', async () => {
    expect(await opened.ask('ens/far.eth')).toMatchObject({
      status: 404,
      body: { message: 'name is resolved off chain' },
    });
  });
});

describe('a reverse name counts only where it leads back', () => {
  const noName = { status: 404, body: { message: 'no name of this address' } };

  test.each(['other.eth', 'nobody.eth', 'none.eth', 'Vitalik.eth', 'vita lik.eth', ''])(
    '%j does not',
    async (name) => {
      const { resolver, set, ask } = opened;
      await set(resolver, 'setName', OWNER, name);
      try {
        expect(await ask(`${OWNER}/reverse`)).toMatchObject(noName);
      } finally {
        await set(resolver, 'setName', OWNER, 'vitalik.eth');
      }
    },
  );

  test('nor where the resolver says so itself', async () => {
    const { resolver, set, ask } = opened;
    await set(resolver, 'setStrict', true);
    try {
      expect(await ask(`${OWNER}/reverse`)).toMatchObject(noName);
    } finally {
      await set(resolver, 'setStrict', false);
    }
  });

  test('of Unstoppable too, on whichever chain it is', async () => {
    const { registries, set, ask } = opened;
    expect((await ask(`${OTHER.toLowerCase()}/domain`)).body).toEqual({ name: 'based.nft' });
    await set(registries[0], 'setName', NOBODY, 'brad.crypto');
    expect(await ask(`${NOBODY}/domain`)).toMatchObject(noName);
  });

  test('no address is 400', async () => {
    for (const path of ['0x12/reverse', '0x12/domain'])
      expect(await opened.ask(path)).toMatchObject({
        status: 400,
        body: { message: '[C0005] Invalid address provided' },
      });
  });
});

describe('what was read', () => {
  test('says of which block it is, both ways of a reverse name of the same one', async () => {
    const { stage, ask } = opened;
    const block = Number(await stage.devnet.client.getBlockNumber({ cacheTime: 0 }));
    const seen = stage.node.received.length;
    await ask('ens/vitalik.eth');
    await ask(`${OWNER}/reverse`);
    await ask('brad.crypto');
    const { database } = stage.scratch;
    for (const [question, chainId] of [
      [{ service: 'ens', wanted: 'address', subject: 'vitalik.eth' }, 1],
      [{ service: 'ens', wanted: 'name', subject: OWNER.toLowerCase() }, 1],
      [{ service: 'unstoppable', wanted: 'address', subject: 'brad.crypto' }, 137],
    ] as const)
      expect(await readStoredName(database, question)).toMatchObject({ asOf: { chainId, block } });
    const requested = stage.node.received.slice(seen).filter(({ method }) => method === 'eth_call');
    expect(new Set(requested.map(({ params }) => params[1]))).toEqual(new Set([toHex(block)]));
  });

  const later = (minutes: number) =>
    opened.stage.scratch.database.query(
      sql`UPDATE resolved_names SET read_at = read_at - make_interval(mins => ${minutes})`,
    );

  test('is given again without a call for ten minutes, and that there is none for one', async () => {
    const paths = ['ens/vitalik.eth', 'ens/nobody.eth'];
    for (const path of paths) await opened.ask(path);
    await opened.stage.scratch.database.query(sql`TRUNCATE state_questions`);
    const before = calls();
    for (const path of paths) await opened.ask(path);
    expect(calls()).toBe(before);
    await later(2);
    for (const path of paths) await opened.ask(path);
    await expect.poll(calls).toBeGreaterThan(before);
    const again = await opened.stage.scratch.database.query<{ question: { subject: string } }>(
      sql`SELECT question FROM state_questions`,
    );
    expect(again.map(({ question }) => question.subject)).toEqual(['nobody.eth']);
  });

  test('is given once it is old, while a worker asks again', async () => {
    const { resolver, set, ask } = opened;
    await ask('ens/other.eth');
    await set(resolver, 'setAnswer', dnsName('other.eth'), addressWord(NOBODY));
    try {
      expect((await ask('ens/other.eth')).body).toEqual({ address: OTHER });
      await later(11);
      await opened.stage.scratch.database.query(sql`TRUNCATE state_questions`);
      expect((await ask('ens/other.eth')).body).toEqual({ address: OTHER });
      await expect.poll(async () => (await ask('ens/other.eth')).body).toEqual({ address: NOBODY });
    } finally {
      await set(resolver, 'setAnswer', dnsName('other.eth'), addressWord(OTHER));
    }
  });

  test('is given while nodes are away, also after they failed', async () => {
    await opened.ask('ens/vitalik.eth');
    await later(11);
    opened.stage.node.alter = () => {
      throw new Error('away');
    };
    for (let requested = 0; requested < 3; requested++)
      expect((await opened.ask('ens/vitalik.eth')).body).toEqual({ address: OWNER });
  });

  test('is forgotten a day later', async () => {
    await opened.ask('ens/none.eth');
    await later(24 * 60 + 1);
    await opened.ask('new.crypto');
    const kept = await opened.stage.scratch.database.query<{ subject: string }>(
      sql`SELECT subject FROM resolved_names`,
    );
    // A reading of the previous test may come late.
    expect(kept.map(({ subject }) => subject)).not.toContain('none.eth');
  });
});

describe('nodes', () => {
  test('that are away make it 503, never 404', async () => {
    opened.stage.node.alter = () => {
      throw new Error('away');
    };
    // Asked by this test alone: of others a reading may come late.
    const asker = getAddress(addressOf(0xa5ce));
    for (const path of ['ens/away.eth', `${asker}/reverse`, 'away.crypto', `${asker}/domain`]) {
      const { status, headers } = await opened.ask(path);
      expect([path, status, headers.get('retry-after')]).toEqual([path, 503, '1']);
    }
  });

  test('that take their time are waited for as long as told', async () => {
    opened.settings.waitMs = 0;
    expect(await opened.ask('ens/slow.eth')).toMatchObject({
      status: 503,
      body: { message: 'being read from the node' },
    });
    await expect.poll(async () => (await opened.ask('ens/slow.eth')).status).toBe(200);
  });

  test.each(['ens/vitalik.eth', 'brad.crypto', `${addressOf(1)}/reverse`, `${addressOf(1)}/domain`])(
    '%s: 501 with what to set where no chain is configured that names are read from',
    async (path) => {
      opened.settings.chains = [];
      const key = /^ens|reverse/.test(path) ? 'RPC_URLS_ETH' : 'RPC_URLS_POLYGON';
      expect(await opened.ask(path)).toMatchObject({
        status: 501,
        body: {
          message: expect.stringContaining(key),
          details: { reason: 'not-offered', configuration_key: key },
        },
      });
    },
  );

  test('are not asked where requests may cause no calls', async () => {
    opened.settings.maxCalls = 0;
    expect(await opened.ask('ens/vitalik.eth')).toMatchObject({
      status: 400,
      body: { details: { reason: 'not-offered', configuration_key: 'ON_DEMAND_MAX_CALLS' } },
    });
  });
});
