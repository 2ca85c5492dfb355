import { Aws, CfnOutput, Validations } from 'aws-cdk-lib';
import { AccountPrincipal, PolicyDocument, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { actPolicy, lookPolicy, type PolicyDocument as RoleRights } from '../operate/stage/policy-document.ts';
import type { Settings } from '../settings.ts';

/**
 * The roles of operators: one to look, one to act. The account's administrator says who may assume them. They may
 * make the calls of the operators' commands (policies.json), and no more.
 */
export class OperatorRoles extends Construct {
  constructor(scope: Construct, id: string, { stage, encryptionKeyArn }: Pick<Settings, 'stage' | 'encryptionKeyArn'>) {
    super(scope, id);
    const place = {
      ...{ stage, encryptionKeyArn, partition: Aws.PARTITION, urlSuffix: Aws.URL_SUFFIX },
      ...{ account: Aws.ACCOUNT_ID, region: Aws.REGION },
    };
    this.add('Look', 'sees what the commands of operators show; no secret', lookPolicy(place));
    this.add('Act', 'runs the commands of operators', actPolicy(place));
  }

  private add(name: string, description: string, rights: RoleRights): void {
    const role = new Role(this, name, {
      assumedBy: new AccountPrincipal(Aws.ACCOUNT_ID),
      description: `Template messaging: ${description}`,
      inlinePolicies: { commands: PolicyDocument.fromJson(rights) },
    });
    const wide = new Set(rights.Statement.flatMap(({ Resource }) => Resource.filter((each) => each.includes('*'))));
    Validations.of(role).acknowledge(
      ...[...wide].map((resource) => ({ id: `AwsSolutions-IAM5[Resource::${spelled(resource)}]`, reason: whyWide })),
    );
    const output = new CfnOutput(this, `${name}Role`, {
      value: role.roleArn,
      description: `The role that ${description}`,
    });
    // A person looks for this name: it has no part of the construct's path.
    output.overrideLogicalId(`${name}Role`);
  }
}

const whyWide =
  'A group of credentials gets its name from provisioning, a stack and a topic their own; policies.json says why else.';

/** The rule spells what CloudFormation fills in. */
function spelled(resource: string): string {
  return resource
    .replaceAll(Aws.PARTITION, '<AWS::Partition>')
    .replaceAll(Aws.REGION, '<AWS::Region>')
    .replaceAll(Aws.ACCOUNT_ID, '<AWS::AccountId>');
}
