/** What sslmode means, on a real server with certificates of an authority of our own. */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silentLogger } from '@chainstead/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { openDatabase } from './open-database.ts';
import { chooseServerAccount } from './server-account.ts';

const hasOpenssl = await promisify(execFile)('openssl', ['version']).then(
  () => true,
  () => false,
);
if (!hasOpenssl) process.stdout.write('NOT RUN: TLS to Postgres (no openssl on this machine)\n');

let folder: string;
let server: EmbeddedPostgres;
let file: (name: string) => string;

async function openssl(...parameters: readonly string[]): Promise<void> {
  await promisify(execFile)('openssl', parameters, { cwd: folder });
}

/** A key and a certificate that the authority signed, for `localhost` unless another name is given. */
async function issue(name: string, commonName: string): Promise<void> {
  await openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    `/CN=${commonName}`,
  );
  await openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-CA',
    'root.crt',
    '-CAkey',
    'root.key',
    '-CAcreateserial',
    '-days',
    '2',
    '-out',
    `${name}.crt`,
  );
}

async function authority(name: string): Promise<void> {
  await openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.crt`,
    '-subj',
    `/CN=${name}`,
  );
}

beforeAll(async () => {
  if (!hasOpenssl) return;
  folder = await mkdtemp(join(tmpdir(), 'chainstead-tls-'));
  file = (name) => join(folder, name);
  await chmod(folder, 0o755);
  await authority('root');
  await authority('other');
  await issue('server', 'localhost');
  const account = await chooseServerAccount(file('none'));
  if (account.uid !== undefined && account.gid !== undefined) await chown(file('server.key'), account.uid, account.gid);
  await chmod(file('server.key'), 0o600);
  server = await startEmbeddedPostgres({
    dataDir: file('database'),
    logger: silentLogger(),
    settings: {
      fsync: 'off',
      shared_buffers: '16MB',
      ssl: 'on',
      ssl_cert_file: file('server.crt'),
      ssl_key_file: file('server.key'),
    },
  });
});
afterAll(async () => {
  await server?.stop();
  if (hasOpenssl) await rm(folder, { recursive: true, force: true });
});

/** @returns whether the connection is encrypted */
async function isEncrypted(host: string, parameters: Readonly<Record<string, string>>): Promise<boolean | undefined> {
  const url = new URL(server.url);
  url.hostname = host;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const database = openDatabase({ url: url.href, applicationName: 'tls', logger: silentLogger() });
  try {
    const [row] = await database.query<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return row?.ssl;
  } finally {
    await database.close();
  }
}

describe.runIf(hasOpenssl)('a server with TLS', () => {
  test.each([
    ['disable', false],
    ['allow', false],
    ['prefer', true],
    ['require', true],
  ])('sslmode=%s without an authority asks for no certificate that can be verified', async (sslmode, encrypted) => {
    expect(await isEncrypted('127.0.0.1', { sslmode })).toBe(encrypted);
  });

  test('is spoken to in TLS where nothing is said', async () => {
    expect(await isEncrypted('127.0.0.1', {})).toBe(true);
  });

  test.each(['require', 'verify-ca'])(
    'sslmode=%s with the authority takes any name, and no other authority',
    async (sslmode) => {
      expect(await isEncrypted('127.0.0.1', { sslmode, sslrootcert: file('root.crt') })).toBe(true);
      await expect(isEncrypted('127.0.0.1', { sslmode, sslrootcert: file('other.crt') })).rejects.toThrow(
        /certificate/,
      );
    },
  );

  test('sslmode=verify-full takes the name of the certificate alone', async () => {
    const verified = { sslmode: 'verify-full', sslrootcert: file('root.crt') };
    expect(await isEncrypted('localhost', verified)).toBe(true);
    await expect(isEncrypted('127.0.0.1', verified)).rejects.toThrow(/does not match|not in the cert/i);
  });

  test("sslmode=verify-full without an authority's file trusts public ones only", async () => {
    await expect(isEncrypted('localhost', { sslmode: 'verify-full' })).rejects.toThrow(/certificate/);
  });
});
