import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ACCOUNT_TABLES } from './account-tables.ts';
import { TOKEN_TABLES } from './contract-tables.ts';
import { curlLine } from './data-table.ts';

test('a line asks for the address as it is', () => {
  expect(curlLine('https://chainstead.example', '/api/v2.2/0xab/nft?chain=eth&limit=10')).toBe(
    `curl -H "X-API-Key: $CHAINSTEAD_KEY" 'https://chainstead.example/api/v2.2/0xab/nft?chain=eth&limit=10'`,
  );
});

test('a shell reads nothing else out of it, whatever the server is called', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("'", '"', '$', '`', '\\', '(', ')', ';', ' ', 'a', '!', '&', '#') }),
      (name) => {
        const line = curlLine(`http://${name}`, '/x').replace(/^curl/, `printf '%s\\n'`);
        const reported = execFileSync('/bin/sh', ['-c', line], { env: { CHAINSTEAD_KEY: 'key' } });
        expect(reported.toString()).toBe(`-H\nX-API-Key: key\nhttp://${name}/x\n`);
      },
    ),
    { numRuns: 30 },
  );
});

test('the value of a wallet notes that tokens count for less, only if they do', () => {
  const note = ACCOUNT_TABLES.find(({ name }) => name === 'net-worth')?.note;
  const of = (uncapped: string) =>
    note?.([{ token_balance_usd: '2.00', token_balance_usd_uncapped: uncapped }], {});
  expect(of('2.00')).toBeNull();
  expect(of('9.00')).toContain('can pay out');
});

test('holders note what the pools can pay out, only if the table shows more', () => {
  const note = TOKEN_TABLES.find(({ name }) => name === 'token-holders')?.note;
  const of = (limit: string | null) =>
    note?.([{ usd_value: '1500.00' }, { usd_value: '500.00' }, { usd_value: null }], { usd_value_limit: limit });
  expect(of('1999.99')).toContain('can pay out: 2,000 USD');
  expect(of('2000.00')).toBeNull();
  // Priced by a feed: pools are no limit.
  expect(of(null)).toBeNull();
});
