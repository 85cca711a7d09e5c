import { describe, expect, it } from 'vitest';
import { parse } from '../testing/configuration-problems.ts';
import { renderRoles, selectRoles, shareOf, slotName, slotsOf } from './role-slot.ts';

function slots(variables: Readonly<Record<string, string>>, cores = 8) {
  const { configuration } = parse(variables);
  return slotsOf(configuration, configuration.roles, cores);
}

describe('the processes of the roles', () => {
  it('are one each, unless more are wanted', () => {
    expect(slots({}).map(slotName)).toEqual(['api', 'ingest', 'worker']);
    expect(renderRoles(slots({}))).toBe('api, ingest, worker');
    const several = slots({ ROLES: 'api:3,ingest,worker:2' });
    expect(several.map(slotName)).toEqual(['api-1', 'api-2', 'api-3', 'ingest', 'worker-1', 'worker-2']);
    expect(renderRoles(several)).toBe('api (3 processes), ingest, worker (2 processes)');
  });

  it('are as many as `ROLES` says where `--roles` names a role alone', () => {
    const { configuration } = parse({ ROLES: 'api:3,worker:2' });
    expect(selectRoles('api,worker:4,ingest', configuration.roles)).toEqual([
      { role: 'api', processes: 3 },
      { role: 'worker', processes: 4 },
      { role: 'ingest', processes: 1 },
    ]);
  });

  it('are as many as there are cores where that is wanted, 64 at most', () => {
    expect(slots({ ROLES: 'api:auto' }).filter(({ role }) => role === 'api')).toHaveLength(8);
    expect(slots({ ROLES: 'api:AUTO' }, 200).filter(({ role }) => role === 'api')).toHaveLength(64);
  });

  it('of ingest are as many as wanted where history can be filled together: for Aptos alone no more than networks, and never none', () => {
    const ingest = (variables: Readonly<Record<string, string>>) =>
      slots({ ROLES: 'ingest:4', ...variables }).length;
    expect(ingest({})).toBe(1);
    expect(ingest({ APTOS_NODE_URL: 'https://a.example' })).toBe(1);
    expect(ingest({ CHAINS: 'eth' })).toBe(4);
    expect(ingest({ CHAINS: 'eth,base', APTOS_NODE_URL: 'https://a.example' })).toBe(4);
    expect(ingest({ CHAINS: 'eth,base,polygon,bsc,arbitrum' })).toBe(4);
  });
});

describe('the shares of processes', () => {
  it.each([
    [1, 5],
    [2, 5],
    [3, 7],
    [4, 4],
    [5, 3],
  ])('of %i processes in %i items hold each item once, and differ by one at most', (of, length) => {
    const items = Array.from({ length }, (_, index) => index);
    const shares = Array.from({ length: of }, (_, index) => shareOf(items, { number: index + 1, of }));
    expect(shares.flat().toSorted((a, b) => a - b)).toEqual(items);
    const sizes = shares.map((share) => share.length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });

  it('go on where those of the list before end', () => {
    const [first, second] = [1, 2].map((number) => [
      ...shareOf(['a'], { number, of: 2 }),
      ...shareOf(['b', 'c'], { number, of: 2 }, 1),
    ]);
    expect([first, second]).toEqual([['a', 'c'], ['b']]);
  });
});
