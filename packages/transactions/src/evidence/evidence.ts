/** What a transaction's logs say of an account beside transfers. */
export type Evidence =
  /** The chain's wrapped coin was given to it for coins. */
  | 'wrap'
  /** It got coins for the chain's wrapped coin. */
  | 'unwrap'
  /** The called contract unwrapped coins: of everybody who took part. */
  | 'calledUnwrapped'
  | 'supply'
  | 'takeBack'
  | 'borrow'
  | 'repay'
  /** Beside `supply`. */
  | 'stake'
  /** Beside `takeBack`. */
  | 'unstake'
  | 'claim'
  /** Beside `supply`. */
  | 'liquidityAdd'
  /** Beside `takeBack`. */
  | 'liquidityRemove';
