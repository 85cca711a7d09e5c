import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';

/** What the browser keeps of a session: signed, out of reach of scripts and of other sites. */
export interface SessionCookie {
  /** Null where there is none, or one that nobody signed here. */
  read(c: Context): Promise<string | null>;
  write(c: Context, secret: string): Promise<void>;
  clear(c: Context): void;
}

const COOKIE_NAME = 'chainstead_console';
const PATH = '/console';
/** As long as a session may last. */
const SECONDS_MAX = 7 * 24 * 3_600;

/** @param key what it is signed with */
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

/** Whoever lies about it keeps a browser from sending the cookie over HTTP: no harm to others. */
function isSecure(c: Context): boolean {
  return c.req.header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https' || c.req.url.startsWith('https:');
}
