import { HealthAnswer } from '../../../functions/health.ts';
import { LoginAnswer, LoginBody } from '../../../functions/login.ts';
import type { Operations } from '../operation.ts';
import { ofBodies, ofPublicRoutes } from '../refusals.ts';

export const access: Operations = {
  health: {
    tag: 'Access',
    summary: 'Is the service there?',
    description: 'Says that the gateway reaches a function, and touches nothing else.',
    answers: { 200: { description: 'It is.', schema: HealthAnswer } },
    refusals: ofPublicRoutes,
    examples: { asked: { summary: 'Asked', status: 200, answer: { status: 'ok' } } },
  },
  login: {
    tag: 'Access',
    summary: 'Get a token',
    description:
      'A token for a user name and a password, good for one hour. Whatever else is sent is a failed attempt.',
    body: { schema: LoginBody },
    answers: { 200: { description: 'The token.', schema: LoginAnswer } },
    refusals: [...ofPublicRoutes, ...ofBodies, 'invalid_credentials'],
    examples: {
      supervisor: {
        summary: 'A user of a client',
        body: { username: 'supervisor1001', password: 'demo-supervisor1001' },
        status: 200,
        answer: {
          access: true,
          access_token:
            'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJjaWQiOjEwMDEsInN1YiI6InN1cGVydmlzb3IxMDAxIn0.c2lnbmF0dXJl',
        },
      },
    },
  },
};
