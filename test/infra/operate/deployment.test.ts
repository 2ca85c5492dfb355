import { describe, expect, it } from 'vitest';
import {
  type DeploymentPorts,
  deployInRounds,
  destinationOf,
  diffOfRound,
} from '../../../infra/operate/stage/deployment.ts';

describe('where a deployment goes', () => {
  it('is the stage dev without an edge, unless something says otherwise', () => {
    expect(destinationOf([])).toEqual({ stage: 'dev', hasEdge: false, isProtectionChosen: false, where: {} });
  });

  it('is told by the arguments, before the file', () => {
    const given = [
      '-c',
      'stage=prod',
      '--profile',
      'production',
      '--region',
      'eu-west-2',
      '--require-approval',
      'never',
    ];
    expect(destinationOf(given, { stage: 'test', protected: 'true' })).toEqual({
      stage: 'prod',
      hasEdge: false,
      isProtectionChosen: true,
      where: { profile: 'production', region: 'eu-west-2' },
    });
  });

  it.each<[boolean, string[], Record<string, unknown>]>([
    [true, ['-c', 'edge=true'], {}],
    [true, ['-cedge=true'], {}],
    [true, ['--context', 'edge=true'], {}],
    [true, ['--context=edge=true'], {}],
    [true, ['-c', 'edge=false', '-c', 'edge=true'], {}],
    [true, [], { edge: true }],
    [true, ['-c', 'stage=prod'], { edge: 'true' }],
    [false, ['-c', 'edge=true', '-c', 'edge=false'], {}],
    [false, ['-c', 'edge=false'], { edge: true }],
    [false, ['-c', 'edgeKeyVersion=2'], {}],
    [false, [], { edge: 'false' }],
  ])('has an edge, %s: %j %j', (hasEdge, given, file) => {
    expect(destinationOf(given, file).hasEdge).toBe(hasEdge);
  });

  it.each([[['-c', 'protected=false']], [['-c', 'protected=stateful']]])('may choose its protection: %j', (given) => {
    expect(destinationOf(given).isProtectionChosen).toBe(true);
  });
});

/** Records all calls. The protections and the exit statuses come in the given order. */
function ports(protections: readonly ('true' | 'stateful' | 'false')[], statuses: readonly number[]) {
  const done: string[] = [];
  const [asked, ended] = [[...protections], [...statuses]];
  const recorded: DeploymentPorts = {
    protection: async () => {
      done.push('ask');
      return asked.shift() ?? expect.unreachable('asked too often');
    },
    build: async () => done.push('build'),
    run: async (given) => {
      done.push(given.join(' '));
      return ended.shift() ?? expect.unreachable('run too often');
    },
    tell: () => done.push('tell'),
  };
  return { done, recorded };
}

describe('a deployment', () => {
  const given = ['-c', 'stage=prod'];
  const open = { isProtectionChosen: false };
  const round = (value: string) => `-c stage=prod -c protected=${value}`;

  it.each(['false', 'stateful'] as const)(
    'of stacks that were never whole (%s) has a second round, which protects them',
    async (first) => {
      const { done, recorded } = ports([first, 'true'], [0, 0]);
      expect(await deployInRounds(given, open, recorded)).toBe(0);
      expect(done).toEqual(['ask', 'build', round(first), 'ask', 'tell', round('true')]);
    },
  );

  it('that fails has no second round, and its status is told', async () => {
    const { done, recorded } = ports(['false'], [3]);
    expect(await deployInRounds(given, open, recorded)).toBe(3);
    expect(done).toEqual(['ask', 'build', round('false')]);
  });

  it('whose second round fails says so', async () => {
    const { recorded } = ports(['false', 'true'], [0, 1]);
    expect(await deployInRounds(given, open, recorded)).toBe(1);
  });

  it('of a part of the stacks leaves the others for the next one', async () => {
    const { done, recorded } = ports(['false', 'stateful'], [0]);
    expect(await deployInRounds(given, open, recorded)).toBe(0);
    expect(done).toEqual(['ask', 'build', round('false'), 'ask']);
  });

  it('of stacks that are whole is one round, protected', async () => {
    const { done, recorded } = ports(['true'], [0]);
    expect(await deployInRounds(given, open, recorded)).toBe(0);
    expect(done).toEqual(['ask', 'build', round('true')]);
  });

  it('that chooses its protection is one round without a question', async () => {
    const { done, recorded } = ports([], [0]);
    expect(await deployInRounds([...given, '-c', 'protected=false'], { isProtectionChosen: true }, recorded)).toBe(0);
    expect(done).toEqual(['build', round('false')]);
  });

  it('that must not begin builds nothing', async () => {
    const { done, recorded } = ports([], []);
    const protection = async () => await Promise.reject(new Error('is being changed'));
    await expect(deployInRounds(given, open, { ...recorded, protection })).rejects.toThrow('is being changed');
    expect(done).toEqual([]);
  });

  it('is shown by diff as its first round would protect it', async () => {
    const { done, recorded } = ports(['stateful'], [1]);
    expect(await diffOfRound(given, open, recorded)).toBe(1);
    expect(done).toEqual(['ask', 'build', round('stateful')]);
    const chosen = ports([], [0]);
    expect(await diffOfRound(given, { isProtectionChosen: true }, chosen.recorded)).toBe(0);
    expect(chosen.done).toEqual(['build', '-c stage=prod']);
  });
});
