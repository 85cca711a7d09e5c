/** docs/api/spam.md. A domain or a bait word alone is no spam: it takes two signs, or a link. */

const DOMAIN = '[a-z0-9][.][a-z]{2,12}([^a-z]|$)';
const BAIT = '(claim|visit|redeem|reward|air ?drop|voucher|give ?away|gift|bonus|free )';

/** Case-insensitive, over `name symbol`. JavaScript and Postgres (`~*`) read them alike. */
export const SPAM_PATTERNS: readonly string[] = [
  // Link.
  '(^|[^a-z0-9])(https?:|www[.]|t[.]me/)',
  '[a-z0-9][.][a-z]{2,12}/[a-z0-9]',
  `^(?=.*${BAIT})(?=.*${DOMAIN})`,
  // "$5,000 Reward".
  `^(?=.*${BAIT})(?=.*[$€£] ?[0-9])`,
  // "$UNI airdrop".
  '[$].*air ?drop|air ?drop.*[$]',
  // "Claim your tokens now".
  '(^|[^a-z])(claim|visit|redeem) (.* )?(reward|air ?drop|tokens?|bonus|voucher|now|your|here|free|at|on|to)',
  // Cyrillic letters in a Latin word imitate another token.
  '[a-z][\u0400-\u04ff]|[\u0400-\u04ff][a-z]',
];
