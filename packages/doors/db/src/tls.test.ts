/** Meaning of sslmode, tested on a real server with certificates of a test authority. */

import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silentLogger } from '@chainstead/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/embedded-postgres.ts';
import { chooseServerAccount } from './embedded/server-account.ts';
import { openDatabase } from './open-database.ts';
import { sql } from './sql.ts';

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

/** Issues a key and a certificate signed by the authority, for `localhost` unless another name is given. */
async function issue(name: string, commonName: string, signer = 'root'): Promise<void> {
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
    `${signer}.crt`,
    '-CAkey',
    `${signer}.key`,
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
  await issue('certified', 'certified');
  await issue('somebody', 'somebody');
  // Signed by the other authority for the same name.
  await issue('forged', 'certified', 'other');
  await writeFile(
    file('hba.conf'),
    `hostssl all certified all scram-sha-256 clientcert=verify-full
hostssl all certificate_alone all cert map=alone
host all certified,certificate_alone all reject
host all all all scram-sha-256
`,
    { mode: 0o644 },
  );
  await writeFile(file('ident.conf'), 'alone certified certificate_alone\n', { mode: 0o644 });
  const account = await chooseServerAccount(file('none'));
  if (account.uid !== undefined && account.gid !== undefined)
    await chown(file('server.key'), account.uid, account.gid);
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
      ssl_ca_file: file('root.crt'),
      hba_file: file('hba.conf'),
      ident_file: file('ident.conf'),
    },
  });
  const admin = openDatabase({ url: server.superuserUrl, applicationName: 'tls', logger: silentLogger() });
  await admin.query(sql`CREATE ROLE certified LOGIN PASSWORD 'secret'`);
  await admin.query(sql`CREATE ROLE certificate_alone LOGIN`);
  await admin.close();
});
afterAll(async () => {
  await server?.stop();
  if (hasOpenssl) await rm(folder, { recursive: true, force: true });
});

/** @returns whether the connection is encrypted */
async function isEncrypted(
  host: string,
  parameters: Readonly<Record<string, string>>,
  login?: { readonly username: string; readonly password: string },
): Promise<boolean | undefined> {
  const url = Object.assign(new URL(server.url), login);
  url.hostname = host;
  url.search = '';
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const database = openDatabase({ url: url.href, applicationName: 'tls', logger: silentLogger() });
  try {
    const [row] = await database.query<{ ssl: boolean }>(
      sql`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
    );
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
  ])(
    'sslmode=%s without an authority asks for no certificate that can be verified',
    async (sslmode, encrypted) => {
      expect(await isEncrypted('127.0.0.1', { sslmode })).toBe(encrypted);
    },
  );

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

  describe('that demands a certificate of the client', () => {
    const secret = { username: 'certified', password: 'secret' };
    const verified = () => ({ sslmode: 'verify-full', sslrootcert: file('root.crt') });
    const withCertificate = (name: string) => ({ sslcert: file(`${name}.crt`), sslkey: file(`${name}.key`) });

    test('takes one of its authority in the name of the role, with the password or in its place', async () => {
      const parameters = { ...verified(), ...withCertificate('certified') };
      expect(await isEncrypted('localhost', parameters, secret)).toBe(true);
      expect(await isEncrypted('localhost', withCertificate('certified'), secret)).toBe(true);
      expect(await isEncrypted('localhost', parameters, { username: 'certificate_alone', password: '' })).toBe(
        true,
      );
    });

    test('refuses who has none, another name or another authority, and says so', async () => {
      await expect(isEncrypted('localhost', verified(), secret)).rejects.toThrow(
        /requires a valid client certificate/,
      );
      await expect(isEncrypted('localhost', {}, secret)).rejects.toThrow(/requires a valid client certificate/);
      const others = (name: string, login = secret) =>
        isEncrypted('localhost', { ...verified(), ...withCertificate(name) }, login);
      await expect(others('somebody', { username: 'certificate_alone', password: '' })).rejects.toThrow(
        /certificate authentication failed/i,
      );
      // Postgres' message mentions the password, which is right.
      await expect(others('somebody')).rejects.toThrow(/authentication failed/);
      await expect(others('forged')).rejects.toThrow(/unknown ca/i);
      await expect(
        isEncrypted(
          'localhost',
          { ...verified(), ...withCertificate('certified') },
          { ...secret, password: 'wrong' },
        ),
      ).rejects.toThrow(/password/);
    });
  });
});
