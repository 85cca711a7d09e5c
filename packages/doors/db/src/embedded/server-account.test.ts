import { expect, test } from 'vitest';
import { pickAccount } from './server-account.ts';

const root = 'root:x:0:0:root:/root:/bin/bash';
const daemon = 'daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin';
const nobody = 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin';
const postgres = 'postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash';

test('the server runs as postgres, else as nobody, else as anybody but root', () => {
  expect(pickAccount([root, daemon, nobody, postgres, ''].join('\n'))).toEqual({ uid: 101, gid: 104 });
  expect(pickAccount([root, daemon, nobody].join('\n'))).toEqual({ uid: 65_534, gid: 65_534 });
  expect(pickAccount([root, daemon].join('\n'))).toEqual({ uid: 1, gid: 1 });
});

test('root alone is nobody to run it as, nor is a broken line', () => {
  expect(pickAccount(root)).toBeUndefined();
  expect(pickAccount('')).toBeUndefined();
  expect(pickAccount('toor:x:0:0::/root:/bin/sh\nbroken\nalso:broken:x:y:\n')).toBeUndefined();
});
