import type { Chain } from '@chainstead/chains';
import { portalUrl } from '@chainstead/sources';
import { z } from 'zod';
import { plainText } from './values.ts';

export interface HistorySourceSettings {
  readonly kind: 'portal' | 'hypersync' | 'era';
  /** A URL without its key, or an absolute folder. */
  readonly place: string;
  readonly key: string | null;
}

/** Such as `portal:https://portal.sqd.dev`, `hypersync:https://TOKEN@eth.hypersync.xyz` or `era:/var/lib/era`. */
export const historySource: z.ZodType<HistorySourceSettings, string> = plainText.transform((text, context) => {
  const [, kind = '', place = ''] = /^(\w+):(.*)$/.exec(text) ?? [];
  if (kind === 'era' && place.startsWith('/')) return { kind, place, key: null };
  if ((kind === 'portal' || kind === 'hypersync') && /^https?:\/\//i.test(place) && URL.canParse(place))
    return { kind, ...withoutKey(place) };
  const message =
    kind === 'era'
      ? 'contains an era folder that is no absolute path'
      : 'contains an entry that is neither portal:URL, hypersync:URL nor era:FOLDER';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** A portal's URL gets the known dataset of the chain. */
export function ofChain(source: HistorySourceSettings, chain: Pick<Chain, 'id'>): HistorySourceSettings {
  return source.kind === 'portal' ? { ...source, place: portalUrl(source.place, chain) } : source;
}

export function hasDataset(url: string): boolean {
  return /\/datasets\/[^/]+\/?$/.test(new URL(url).pathname);
}

/** The key is sent as a header, never in the URL. */
function withoutKey(text: string): { readonly place: string; readonly key: string | null } {
  const url = new URL(text);
  const key = decodeURIComponent(url.password === '' ? url.username : url.password);
  url.username = '';
  url.password = '';
  return { place: url.href.replace(/\/+$/, ''), key: key === '' ? null : key };
}
