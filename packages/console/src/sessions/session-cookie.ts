import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';

/** The session cookie: signed, inaccessible to scripts and other sites. */
export interface SessionCookie {
  /** Null if there is none, or if its signature is invalid. */
  read(c: Context): Promise<string | null>;
  write(c: Context, secret: string): Promise<void>;
  clear(c: Context): void;
}

const COOKIE_NAME = 'chainstead_console';
const PATH = '/console';
/** The longest lifetime of a session. */
const SECONDS_MAX = 7 * 24 * 3_600;

/** @param key that signs it */
export function createSessionCookie(key: Buffer): SessionCookie {
  const signature = new Uint8Array(key);
  return {
    async read(c) {
      const value = await getSignedCookie(c, signature, COOKIE_NAME);
      return typeof value === 'string' ? value : null;
    },
    write: (c, secret) => setSignedCookie(c, COOKIE_NAME, secret, signature, { ...optionsOf(c), maxAge: SECONDS_MAX }),
    clear: (c) => {
      deleteCookie(c, COOKIE_NAME, optionsOf(c));
    },
  };
}

function optionsOf(c: Context): CookieOptions {
  return { httpOnly: true, sameSite: 'Strict', path: PATH, secure: isSecure(c) };
}

/** A forged header only keeps a browser from sending the cookie over HTTP: it harms no other client. */
function isSecure(c: Context): boolean {
  return c.req.header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' || c.req.url.startsWith('https:');
}
