import { Duration } from 'aws-cdk-lib';
import { CorsHttpMethod, type CorsPreflightOptions } from 'aws-cdk-lib/aws-apigatewayv2';

/** Credentials are off, because the token is a header (D52). */
export function corsFor(origins: readonly string[]): CorsPreflightOptions {
  return {
    allowOrigins: [...origins],
    allowMethods: [
      CorsHttpMethod.GET,
      CorsHttpMethod.POST,
      CorsHttpMethod.PUT,
      CorsHttpMethod.PATCH,
      CorsHttpMethod.DELETE,
    ],
    allowHeaders: [
      ...['Authorization', 'Content-Type', 'Dry-Run', 'Idempotency-Key', 'Max-Cost', 'Webhook-Secret-Rotate'],
      ...['Send-At', 'Send-Days', 'Send-Window', 'Send-Zone'],
    ],
    exposeHeaders: [
      'Dispatch-Id',
      'Webhook-Secret',
      'Template-Warning',
      'Link',
      'X-Request-Id',
      'Retry-After',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
    ],
    // Browsers cache the answer this long, so a removed origin keeps access no longer.
    maxAge: Duration.minutes(10),
  };
}
