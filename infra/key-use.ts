import { Aws } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';

/** Allows a key only through these services, for what they read and write on behalf of the caller. */
export function keyUse(keyArn: string, services: readonly string[]): PolicyStatement {
  return new PolicyStatement({
    actions: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'],
    resources: [keyArn],
    conditions: {
      StringEquals: { 'kms:ViaService': services.map((each) => `${each}.${Aws.REGION}.${Aws.URL_SUFFIX}`) },
    },
  });
}
