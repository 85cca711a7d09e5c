import { cleanText, NAME_LENGTH_MAX, SYMBOL_LENGTH_MAX } from '@chainstead/tokens/token-metadata';
import { parseContentId } from './document-place.ts';

export const COLLECTION_COLUMNS = [
  ['name', 'name'],
  ['symbol', 'symbol'],
  ['collectionLogo', 'collection_logo'],
  ['collectionBannerImage', 'collection_banner_image'],
  ['collectionCategory', 'collection_category'],
  ['projectUrl', 'project_url'],
  ['wikiUrl', 'wiki_url'],
  ['discordUrl', 'discord_url'],
  ['telegramUrl', 'telegram_url'],
  ['twitterUsername', 'twitter_username'],
  ['instagramUsername', 'instagram_username'],
] as const;

/** Null if the source has no usable value. */
export type CollectionFields = { readonly [Field in (typeof COLLECTION_COLUMNS)[number][0]]: string | null };

/** The first key with a usable value wins. Drops links that a browser would execute. */
export function readCollectionFields(document: Readonly<Record<string, unknown>>): CollectionFields {
  const first = (keys: readonly string[], read: (value: unknown) => string | null): string | null => {
    for (const key of keys) {
      const value = read(valueAt(document, key));
      if (value !== null) return value;
    }
    return null;
  };
  return {
    name: first(['name', 'collection_name', 'title'], (value) => readText(value, NAME_LENGTH_MAX)),
    symbol: first(['symbol'], (value) => readText(value, SYMBOL_LENGTH_MAX)),
    collectionLogo: first(LOGO_KEYS, readPicture),
    // Venly: `media: [{type: "banner", value: "https://…"}]`.
    collectionBannerImage:
      first(BANNER_KEYS, readPicture) ??
      readPicture(Object(asList(document.media).find((item) => Object(item).type === 'banner')).value),
    collectionCategory: first(CATEGORY_KEYS, (value) => {
      const texts = (Array.isArray(value) ? value : [value]).map((item) => readText(item, CATEGORY_LENGTH_MAX));
      return texts.find((text) => text !== null) ?? null;
    }),
    projectUrl: first(PROJECT_KEYS, readLink),
    wikiUrl: first(['wiki_url', 'wiki', 'links.wiki'], readLink),
    discordUrl: first(
      ['discord_url', 'discord', 'links.discord'],
      (value) =>
        readLink(value) ??
        prefixed(value, 'https://discord.gg/', /^(?:discord\.gg|discord\.com\/invite)\//i, /^[\w-]{2,64}$/),
    ),
    telegramUrl: first(
      ['telegram_url', 'telegram'],
      (value) =>
        readLink(value) ??
        prefixed(value, 'https://t.me/', /^(?:@|t\.me\/|telegram\.me\/)/i, /^\+?[\w/-]{2,64}$/),
    ),
    twitterUsername: first(['twitter_username', 'twitter', 'x', 'twitter_url'], (value) =>
      readUserName(value, TWITTER_HOSTS),
    ),
    instagramUsername: first(['instagram_username', 'instagram'], (value) =>
      readUserName(value, INSTAGRAM_HOSTS),
    ),
  };
}

const LOGO_KEYS = ['image', 'image_url', 'imageUrl', 'logo', 'logo_url', 'collection_logo', 'featured_image'];
const BANNER_KEYS = [
  'banner_image',
  'banner_image_url',
  'bannerImageUrl',
  'banner',
  'cover_image',
  'featured_image',
  'featured_image_url',
  'collection_banner_image',
];
const CATEGORY_KEYS = ['category', 'collection_category', 'categories', 'tags'];
const PROJECT_KEYS = [
  'external_link',
  'external_url',
  'externalUrl',
  'website',
  'homepage',
  'project_url',
  'links.website',
];
const TWITTER_HOSTS = /^(?:www\.|mobile\.)?(?:twitter|x)\.com$/;
const INSTAGRAM_HOSTS = /^(?:www\.)?(?:instagram\.com|instagr\.am)$/;
const CATEGORY_LENGTH_MAX = 128;
const LINK_LENGTH_MAX = 2_048;
/** Characters. Longer ones are dropped. */
const PICTURE_DATA_LENGTH_MAX = 32_768;
const USER_NAME_LENGTH_MAX = 64;

function valueAt(document: Readonly<Record<string, unknown>>, key: string): unknown {
  const [outer = '', inner] = key.split('.');
  const value = Object.hasOwn(document, outer) ? document[outer] : undefined;
  if (inner === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, inner)) return undefined;
  return Object(value)[inner];
}

function readText(value: unknown, lengthMax: number): string | null {
  return typeof value === 'string' ? cleanText(value.slice(0, lengthMax * 4), lengthMax) : null;
}

/** http(s), ipfs, ar, or inline `data:image`. */
function readPicture(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (/^data:image\//i.test(text)) {
    const clean = text.replaceAll('\0', '').toWellFormed();
    return text.length <= PICTURE_DATA_LENGTH_MAX && text.includes(',') ? clean : null;
  }
  return readLink(text);
}

/** Only http(s), ipfs or ar, without user name, password, white space or quotes. */
function readLink(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (text.length > LINK_LENGTH_MAX) return null;
  if (/^(?:Qm|baf)[A-Za-z0-9]+$/.test(text) && parseContentId(text) !== null) return `ipfs://${text}`;
  if (!/^(?:https?|ipfs|ar):\/\/[^\s"'<>\\\p{Cc}\uFFFD]+$/iu.test(text)) return null;
  const url = URL.parse(text);
  return url === null || url.username !== '' || url.password !== '' || !text.isWellFormed() ? null : text;
}

function prefixed(value: unknown, prefix: string, dropped: RegExp, allowed: RegExp): string | null {
  if (typeof value !== 'string' || value.length > LINK_LENGTH_MAX) return null;
  const code = value.trim().replace(dropped, '');
  return allowed.test(code) ? `${prefix}${code}` : null;
}

/** A bare user name, one after `@`, or the first path segment of the network's URL. */
function readUserName(value: unknown, hosts: RegExp): string | null {
  if (typeof value !== 'string' || value.length > LINK_LENGTH_MAX) return null;
  const text = value.trim();
  const url = /^[a-z]+:\/\//i.test(text)
    ? URL.parse(text)
    : text.includes('/')
      ? URL.parse(`https://${text}`)
      : null;
  if (url !== null && !hosts.test(url.hostname)) return null;
  const name = (url === null ? text : (url.pathname.split('/')[1] ?? '')).replace(/^@+/, '');
  return name.length <= USER_NAME_LENGTH_MAX && /^[\w.-]+$/.test(name) ? name : null;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
