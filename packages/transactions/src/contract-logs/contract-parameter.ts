import { addressParameter } from '@chainstead/http';

/** The contract in the path. By this text clients of the hosted provider know the refusal of logs and events. */
export const contractParameter = addressParameter('Invalid address provided').openapi({ description: 'The contract' });
