import { createChainRegistry } from '@chainstead/chains';
import { contractRoutes } from '@chainstead/contracts';
import { sql } from '@chainstead/db';
import { afterEach, describe, expect, test } from 'vitest';
import { seedContract } from '../pages/contracts/testing/seed-contract.ts';
import { type ConsoleStage, openConsoleStage, type Visitor } from '../testing/console-stage.ts';
import { seedChains } from '../testing/seed-chains.ts';

let stage: ConsoleStage;
afterEach(() => stage.close());

/** The messages of a live part, as they arrive. */
async function* messages(visitor: Visitor, path = 'overview'): AsyncGenerator<string> {
  const answer = await stage.app.request(`/console/events/${path}`, {
    headers: { cookie: visitor.cookie, accept: 'text/event-stream' },
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  expect(answer.headers.get('cache-control')).toContain('no-transform');
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield text.slice(0, end);
      text = text.slice(end + 2);
    }
  }
}

async function next(stream: AsyncGenerator<string>): Promise<string> {
  const { value, done } = await stream.next();
  return done === true ? 'ended' : value;
}

describe('a live part', () => {
  test('is sent whole at first, and again when something has changed', async () => {
    stage = await openConsoleStage();
    const visitor = await stage.signIn();
    await seedChains(stage.database, [7]);
    const stream = messages(visitor);
    expect(await next(stream)).toContain('<data class="n" value="1990">');
    await stage.database.query(sql`UPDATE sync_chains SET checkpoint = 1995`);
    let message = '';
    while (!message.includes('value="1995"')) message = await next(stream);
    // A reconnected client also gets all of it.
    const again = messages(visitor);
    const first = await next(again);
    expect(first).toContain('value="1995"');
    expect(first).toContain('chain-7');
    stage.console.close();
    while (message !== 'ended') message = await next(stream);
  });

  test('ends with its session: a key that is revoked shows nothing more', async () => {
    stage = await openConsoleStage();
    const visitor = await stage.signIn();
    const stream = messages(visitor);
    expect(await next(stream)).toContain('As of');
    await stage.keys.revoke(visitor.prefix);
    let message = await next(stream);
    while (!message.includes('Signed out')) message = await next(stream);
    expect(await next(stream)).toContain('event: end');
    expect(await next(stream)).toBe('ended');
  });

  test('whose session was over before it connected says so, and ends', async () => {
    stage = await openConsoleStage();
    const visitor = await stage.signIn();
    await stage.keys.revoke(visitor.prefix);
    const stream = messages(visitor);
    expect(await next(stream)).toContain('Signed out');
    expect(await next(stream)).toContain('event: end');
    expect(await next(stream)).toBe('ended');
  });

  test.each(['contracts/vault?chain=eth', 'contracts/vault/deposit?chain=eth'])(
    'ends with the contract that %s shows',
    async (path) => {
      stage = await openConsoleStage({ explorer: { routes: contractRoutes } });
      const visitor = await stage.signIn();
      await seedContract(stage.database, createChainRegistry().get('eth'), []);
      const stream = messages(visitor, path);
      expect(await next(stream)).toContain('vault');
      await stage.database.query(sql`DELETE FROM contract_definitions`);
      let message = await next(stream);
      while (!message.includes('it was removed.')) message = await next(stream);
      expect([await next(stream), await next(stream)]).toEqual([expect.stringContaining('event: end'), 'ended']);
    },
  );

  test('is tried again while the database is away, and says nothing until then', async () => {
    let isAway = false;
    stage = await openConsoleStage({
      wrap: (database) => ({
        ...database,
        query: (statement) => (isAway ? Promise.reject(new Error('connection lost')) : database.query(statement)),
      }),
    });
    const visitor = await stage.signIn();
    const stream = messages(visitor);
    expect(await next(stream)).toContain('As of');
    isAway = true;
    setTimeout(() => {
      isAway = false;
    }, 3_000);
    expect(await next(stream)).toContain('As of');
    expect(isAway).toBe(false);
  });
});
