const { SenderWorld } = await import('./sender-world.ts');
const { PipelineWorld } = await import('./world.ts');
const { quietRules, accept } = await import('./quiet-world.ts');
function figures(world: any, limit: number, total: number, realStart: number) {
  const posts = world.platform.posts.filter((p: any) => p.taken);
  const first = Math.min(...posts.map((p: any) => p.atMs)), last = Math.max(...posts.map((p: any) => p.atMs));
  const share = (posts.length - 1) / ((last - first) / 1000) / limit;
  const m = world.meter.requests; 
  const runs = ['sender', 'dispatch', 'fan-out'].map((n) => world.meter.timesOf(n));
  const ms = runs.reduce((s: number, r: any) => s + r.ms, 0);
  return { taken: posts.length, of: total, share: share.toFixed(3), throttled: world.platform.posts.filter((p: any) => p.throttled).length, writes: (m.write / total).toFixed(3), reads: (m.read / total).toFixed(3), queue: ((m.queue + m.grouped) / total).toFixed(4), workerMs: (ms / total).toFixed(1), runs: runs.reduce((s: number, r: any) => s + r.runs, 0), firstMs: first - 1_800_000_000_000, real: Date.now() - realStart };
}
const only = process.argv[2];
for (const kind of ['sender', 'today'] as const) {
  const make = (rules: any) => kind === 'sender' ? new SenderWorld(quietRules({ workers: 50, ...rules })) : new PipelineWorld(quietRules({ workers: 50, ...rules }));
  const cases: [string, any, number, (w: any) => void][] = [
    ['1 x 10000', {}, 10_000, (w) => { accept(w, 10_000); }],
    ['3 x 10000', {}, 30_000, (w) => { for (let i = 0; i < 3; i++) accept(w, 10_000, { clientId: i }); }],
    ['10 x 10000', {}, 100_000, (w) => { for (let i = 0; i < 10; i++) accept(w, 10_000, { clientId: i % 3 }); }],
    ['100 x 40', {}, 4_000, (w) => { for (let i = 0; i < 100; i++) accept(w, 40, { clientId: i % 10 }); }],
    ['calls 800 ms', { answerMs: () => 800 }, 10_000, (w) => { accept(w, 10_000); }],
    ['store 120', { latencyMs: () => 60 }, 5_000, (w) => { accept(w, 5_000); }],
    ['store 300', { latencyMs: () => 150 }, 5_000, (w) => { accept(w, 5_000); }],
    ['store 600', { latencyMs: () => 300 }, 2_000, (w) => { accept(w, 2_000); }],
    ['store 1000', { latencyMs: () => 500 }, 1_000, (w) => { accept(w, 1_000); }],
    ['limit 1000', { limitPerSecond: 1000, workers: 200 }, 60_000, (w) => { for (let i = 0; i < 6; i++) accept(w, 10_000, { clientId: i }); }],
    ['limit 1000 100x40', { limitPerSecond: 1000, workers: 200 }, 4_000, (w) => { for (let i = 0; i < 100; i++) accept(w, 40, { clientId: i % 10 }); }],
    ['limit 5', { limitPerSecond: 5 }, 1_000, (w) => { accept(w, 1_000); }],
    ['limit 1', { limitPerSecond: 1 }, 300, (w) => { accept(w, 300); }],
    ['16 numbers x 3, 20 workers', { workers: 20 }, 16 * 3 * 2_000, (w) => { for (let n = 0; n < 16; n++) for (let i = 0; i < 3; i++) accept(w, 2_000, { clientId: i, phoneNumberId: `n${n}` }); }],
  ];
  for (const [name, rules, total, load] of cases) {
    if (only !== undefined && !name.includes(only)) continue;
    const t = Date.now();
    const world = make(rules);
    load(world);
    await world.run(4 * 3_600_000);
    const numbers = name.startsWith('16') ? 16 : 1;
    console.log(kind.padEnd(7), name.padEnd(20), JSON.stringify(figures(world, (rules.limitPerSecond ?? 80) * numbers, total, t)));
  }
}
process.exit(0);
