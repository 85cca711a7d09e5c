import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DatabaseError } from '../database-error.ts';
import { parseConnectionString, redactConnectionString } from './connection-string.ts';

const BASE = 'postgres://127.0.0.1/indexer';

function refusalOf(text: string): DatabaseError {
  try {
    parseConnectionString(text);
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
  throw new Error(`${text} was accepted`);
}

describe('a database URL', () => {
  test('of any user, password, hosts and name is read as it was written, and none of its password is shown', () => {
    const host = fc.record({
      host: fc.oneof(
        fc.stringMatching(/^[a-z][a-z0-9-]{0,10}(\.[a-z]{2,5})?$/),
        fc.ipV4(),
        fc.ipV6().filter((address) => !address.includes('.')),
      ),
      port: fc.integer({ min: 1, max: 65_535 }),
    });
    const word = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(
        word,
        word,
        word,
        fc.array(host, { minLength: 1, maxLength: 4 }),
        (user, password, database, hosts) => {
          const list = hosts
            .map((one) => `${one.host.includes(':') ? `[${one.host}]` : one.host}:${one.port}`)
            .join(',');
          const [first, second, third] = [user, password, database].map(encodeURIComponent);
          const text = `postgres://${first}:${second}@${list}/${third}`;
          expect(parseConnectionString(text)).toMatchObject({ user, password, database, hosts });
          const name = /^[\w-]+$/.test(database) ? `/${database}` : '';
          expect(redactConnectionString(text)).toBe(`postgres://${list}${name}`);
        },
      ),
    );
  });

  test('whatever it holds is either read or refused by name, without its password in the message', () => {
    const piece = fc.constantFrom(
      'postgres://',
      'u',
      ':',
      'hunter2',
      '@',
      '%',
      '%4',
      '[::1]',
      '/',
      '?',
      '=',
      '&',
      ',',
      '#',
      'sslmode',
      ' ',
      'x',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = `postgres://u:hunter2@${pieces.join('')}`;
        try {
          parseConnectionString(text);
        } catch (error) {
          expect(error).toMatchObject({ code: 'DATABASE_URL_INVALID' });
        }
        const login = text.slice(0, text.lastIndexOf('@') + 1);
        expect(redactConnectionString(text)).not.toContain(login);
      }),
    );
  });

  test('a password with a slash that is not encoded does not show as the name of the database', () => {
    expect(redactConnectionString('postgres://u:1/secret@host/indexer')).toBe('postgres://u:1');
  });

  test.each<[string, string]>([
    ['postgres://127.0.0.1:5432', 'it has no database name'],
    ['postgres://127.0.0.1:5432/', 'it has no database name'],
    ['mysql://127.0.0.1/indexer', 'does not begin with postgres://'],
    ['postgres://u:pa%ss@127.0.0.1/indexer', 'a % that does not start an encoded character'],
    ['postgres://u:p@ss@127.0.0.1/indexer', 'a host has invalid characters'],
    ['postgres://127.0.0.1:70000/indexer', '70000 is not a port'],
    [`${BASE}?sslmode=on`, 'sslmode=on is unknown'],
    [`${BASE}?sslmode=verify-ca`, 'needs sslrootcert'],
    [`${BASE}?sslmode=require&sslrootcert=system`, 'needs sslmode=verify-full'],
    [`${BASE}?sslcert=client.crt`, 'belong together'],
    [`${BASE}?sslmode=require&sslrootcert=/nowhere/ca.crt`, "sslrootcert can't be read"],
    [`${BASE}?target_session_attrs=standby`, 'target_session_attrs=standby'],
    [`${BASE}?pool_size=4`, 'pool_size is unknown'],
    [`${BASE}?connect_timeout=soon`, 'connect_timeout=soon'],
  ])('%s is refused: %s', (text, reason) => {
    const refusal = refusalOf(text);
    expect(refusal.code).toBe('DATABASE_URL_INVALID');
    expect(refusal.message).toContain(reason);
  });

  test.each([
    ['', ['tls', 'plain']],
    ['?sslmode=disable', ['plain']],
    ['?sslmode=allow', ['plain', 'tls']],
    ['?sslmode=require', ['tls']],
    ['?sslmode=verify-full', ['verified']],
  ])('with "%s" goes %j', (query, ways) => {
    const { encryption } = parseConnectionString(`${BASE}${query}`);
    const shown = encryption.map((way) =>
      way === false ? 'plain' : way.rejectUnauthorized === true ? 'verified' : 'tls',
    );
    expect(shown).toEqual(ways);
  });

  test.each([
    ['postgres://one/indexer', false],
    ['postgres://one,two/indexer', true],
    ['postgres://one,two/indexer?target_session_attrs=any', false],
    ['postgres://one/indexer?target_session_attrs=primary', true],
  ])('%s asks for a server that takes writes: %s', (text, readWrite) => {
    expect(parseConnectionString(text).readWrite).toBe(readWrite);
  });

  test('takes one port for all hosts, or one for each, and a folder of sockets without TLS', () => {
    const ports = (query: string): number[] =>
      parseConnectionString(`postgres:///indexer?${query}`).hosts.map(({ port }) => port);
    expect(ports('host=a,b&port=6000')).toEqual([6_000, 6_000]);
    expect(ports('host=a,b&port=6000,6001')).toEqual([6_000, 6_001]);
    const local = parseConnectionString('postgres:///indexer?host=/run/postgresql');
    expect(local).toMatchObject({ hosts: [{ host: '/run/postgresql', port: 5_432 }], encryption: [false] });
  });
});
