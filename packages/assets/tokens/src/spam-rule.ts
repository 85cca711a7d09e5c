/**
 * The rule for obvious spam, described in docs/api/spam.md: a token's name or symbol that wants its reader to go somewhere.
 * A domain alone is no spam (`yearn.finance`), a bait word alone neither (`Jarvis Reward Token`): it takes two signs, or a link.
 */

const DOMAIN = '[a-z0-9][.][a-z]{2,12}([^a-z]|$)';
const BAIT = '(claim|visit|redeem|reward|air ?drop|voucher|give ?away|gift|bonus|free )';

/**
 * Case-insensitive regular expressions over `name symbol`, written in what JavaScript and Postgres (`~*`) read alike, so
 * that one token and a whole table are judged by the same rule.
 */
export const SPAM_PATTERNS: readonly string[] = [
  // A link: protocol, www, a Telegram invitation, or a domain with a path.
  '(^|[^a-z0-9])(https?:|www[.]|t[.]me/)',
  '[a-z0-9][.][a-z]{2,12}/[a-z0-9]',
  // A domain and a bait word.
  `^(?=.*${BAIT})(?=.*${DOMAIN})`,
  // An amount of money and a bait word: "$5,000 Reward".
  `^(?=.*${BAIT})(?=.*[$€£] ?[0-9])`,
  // "$UNI airdrop".
  '[$].*air ?drop|air ?drop.*[$]',
  // An order to the reader: "Claim your tokens now".
  '(^|[^a-z])(claim|visit|redeem) (.* )?(reward|air ?drop|tokens?|bonus|voucher|now|your|here|free|at|on|to)',
  // A Latin word with Cyrillic letters in it passes for another token's.
  '[a-z][\u0400-\u04ff]|[\u0400-\u04ff][a-z]',
];
