/** Stored. A self-transfer is one row. */
export const DIRECTION = { sent: 0, received: 1, self: 2 } as const;

export type Direction = (typeof DIRECTION)[keyof typeof DIRECTION];

export const IS_GIVING_SIDE = `direction <> ${DIRECTION.received}`;
