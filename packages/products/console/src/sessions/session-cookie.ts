import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';

export interface SessionCookie {
  read(c: Context): Promise<string | null>;
  write(c: Context, secret: string): Promise<void>;
  clear(c: Context): void;
}

const COOKIE_NAME = 'chainstead_console';
const SECONDS_MAX = 7 * 24 * 3_600;

export function createSessionCookie(key: Buffer): SessionCookie {
  const signature = new Uint8Array(key);
  const optionsOf = (c: Context): CookieOptions => {
    // A forged header only keeps a browser from sending its cookie over HTTP.
    const isForwarded = c.req.header('x-forwarded-proto')?.split(',')[0]?.trim() === 'https';
    return {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/console',
      secure: isForwarded || c.req.url.startsWith('https:'),
    };
  };
  return {
    async read(c) {
      const value = await getSignedCookie(c, signature, COOKIE_NAME);
      return typeof value === 'string' ? value : null;
    },
    write: (c, secret) =>
      setSignedCookie(c, COOKIE_NAME, secret, signature, { ...optionsOf(c), maxAge: SECONDS_MAX }),
    clear: (c) => void deleteCookie(c, COOKIE_NAME, optionsOf(c)),
  };
}
