import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { transactionLock } from '../citus/commit-lock.ts';
import { openDatabase } from '../open-database.ts';
import { sql } from '../sql.ts';
import { type Leadership, tryAcquireLeadership } from './leadership.ts';

/** Longer than the limit for silent sessions plus two checks by the new leader. */
const LONGER_THAN_SILENCE_MS = 6_500;

describe('leadership', () => {
  const scratch = scratchOfFile();

  beforeEach(() => scratch.database.query(sql`DELETE FROM leases`));

  async function lead(name: string): Promise<Leadership> {
    const { leadership } = await tryAcquireLeadership(scratch.database, name);
    if (leadership === null) throw new Error(`${name} is taken`);
    return leadership;
  }

  test('has one holder at a time, who is told to the others, and is free after its release', async () => {
    const first = await lead('one');
    expect(await tryAcquireLeadership(scratch.database, 'one')).toEqual({
      leadership: null,
      leader: expect.stringMatching(new RegExp(`, process ${process.pid}$`)),
    });
    const other = await lead('other');
    await first.release();
    await first.release();
    expect(first.lost.aborted).toBe(false);
    const second = await lead('one');
    await second.release();
    await other.release();
    expect(await scratch.database.query(sql`SELECT name FROM leases`)).toEqual([]);
  });

  test('is lost, aloud, when its connection breaks, and can be won by another at once', async () => {
    const leader = await lead('broken');
    const lost = once(leader.lost, 'abort');
    await scratch.database.query(sql`SELECT pg_terminate_backend(backend_pid) FROM leases WHERE name = 'broken'`);
    await lost;
    expect(leader.lost.reason).toMatchObject({
      code: 'LEADERSHIP_LOST',
      message: expect.stringContaining('The database no longer confirms'),
      retryable: true,
    });
    await leader.release();
    const next = await vi.waitFor(() => lead('broken'));
    await next.release();
  });

  // Invariant: SYNC-ONE-LEADER
  test('ends by the clock of the database when its holder falls silent, whose writes are refused from then on', async () => {
    const silent = await lead('silent');
    // Simulates seconds without a renewal.
    await scratch.database.query(sql`UPDATE leases SET expires_at = clock_timestamp() WHERE name = 'silent'`);
    const next = await lead('silent');
    await expect(
      scratch.database.transaction((transaction) => silent.confirm(transaction)),
    ).rejects.toMatchObject({
      code: 'LEADERSHIP_LOST',
    });
    await scratch.database.transaction((transaction) => next.confirm(transaction));
    // The old holder's release does not release the new lease.
    await silent.release();
    expect((await tryAcquireLeadership(scratch.database, 'silent')).leadership).toBeNull();
    await next.release();
  });

  test('is renewed, and lost when the renewal finds another holder', async () => {
    const leader = await lead('renewed');
    const expiry = async () =>
      (
        await scratch.database.query<{ at: Date }>(
          sql`SELECT expires_at AS at FROM leases WHERE name = 'renewed'`,
        )
      )[0]?.at;
    const before = await expiry();
    await vi.waitFor(async () => expect(await expiry()).not.toEqual(before), { timeout: 20_000, interval: 200 });
    const lost = once(leader.lost, 'abort');
    await scratch.database.query(sql`UPDATE leases SET token = gen_random_uuid() WHERE name = 'renewed'`);
    await lost;
    expect(leader.lost.reason).toMatchObject({ code: 'LEADERSHIP_LOST' });
  });

  describe('taken over from a holder that fell silent', () => {
    /** Holds a lock in an idle transaction until the test releases it. */
    async function holdLock(
      applicationName: string,
    ): Promise<{ readonly letGo: () => void; readonly end: Promise<unknown> }> {
      const silent = openDatabase({ url: scratch.url, applicationName, poolSize: 2, logger: silentLogger() });
      const held = Promise.withResolvers<void>();
      const over = Promise.withResolvers<void>();
      const end = silent
        .transaction(async (transaction) => {
          await transactionLock(transaction, 'commit');
          held.resolve();
          await over.promise;
        })
        .then(
          () => null,
          (error: unknown) => error,
        )
        .finally(() => silent.close());
      await held.promise;
      return { letGo: over.resolve, end };
    }
    const waitForLock = (): Promise<unknown> =>
      scratch.database.transaction((transaction) => transactionLock(transaction, 'commit'));

    test('ends the sessions of it that others wait for, and says which', async () => {
      const silent = await lead('followed');
      const { letGo, end } = await holdLock('chainstead gone');
      await scratch.database.query(sql`UPDATE leases SET expires_at = clock_timestamp() WHERE name = 'followed'`);
      const onCutOff = vi.fn();
      const { leadership } = await tryAcquireLeadership(scratch.database, 'followed', { onCutOff });
      await waitForLock();
      // The lock may be acquired before the server has returned the ended sessions.
      await vi.waitFor(() =>
        expect(onCutOff.mock.calls).toEqual([[[expect.objectContaining({ application: 'chainstead gone' })]]]),
      );
      letGo();
      expect(await end).toBeInstanceOf(Error);
      await leadership?.release();
      await silent.release();
    });

    test('leaves alone whom nobody waits for, sessions of other programs, and every session where the lease was given up', async () => {
      const unhindered = await holdLock('chainstead thinking');
      const silent = await lead('left');
      await scratch.database.query(sql`UPDATE leases SET expires_at = clock_timestamp() WHERE name = 'left'`);
      const onCutOff = vi.fn();
      const next = await tryAcquireLeadership(scratch.database, 'left', { onCutOff });
      await delay(LONGER_THAN_SILENCE_MS);
      unhindered.letGo();
      expect(await unhindered.end).toBeNull();

      const stranger = await holdLock('psql');
      const waiting = waitForLock();
      await delay(LONGER_THAN_SILENCE_MS);
      stranger.letGo();
      expect(await stranger.end).toBeNull();
      await waiting;
      await next.leadership?.release();

      const heir = await tryAcquireLeadership(scratch.database, 'left', { onCutOff });
      const slow = await holdLock('chainstead slow');
      const patient = waitForLock();
      await delay(LONGER_THAN_SILENCE_MS);
      slow.letGo();
      expect(await slow.end).toBeNull();
      await patient;
      expect(onCutOff).not.toHaveBeenCalled();
      await heir.leadership?.release();
      await silent.release();
    });
  });

  test('leaves no connection behind when it is taken', async () => {
    const leader = await lead('taken');
    for (let attempt = 0; attempt < 5; attempt += 1) await tryAcquireLeadership(scratch.database, 'taken');
    await vi.waitFor(async () =>
      expect(
        await scratch.database.query(
          sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%lease%' AND pid <> pg_backend_pid()`,
        ),
      ).toHaveLength(1),
    );
    await leader.release();
  });
});
