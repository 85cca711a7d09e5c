import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
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
