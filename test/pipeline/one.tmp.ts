const { randomWorldOf } = await import('/work/wt/sender/test/pipeline/random-world.ts');
const { SenderWorld } = await import('/work/wt/sender/test/pipeline/sender-world.ts');
const { checkWorld } = await import('/work/wt/sender/test/pipeline/kept-promises.ts');
const from = Number(process.argv[2]), to = Number(process.argv[3] ?? from);
for (let seed = from; seed <= to; seed++) {
  const logs: string[] = [];
  const world = randomWorldOf(seed, (rules: any) => new SenderWorld({ ...rules, log: (fn: string, e: string, f: any) => { logs.push(`${world ? world.elapsedMs : 0} ${fn} ${e} ${JSON.stringify(f)}`); } })) as any;
  const t0 = Date.now();
  const timer = setInterval(() => { console.log(seed, JSON.stringify([...world.logged].slice(0,40)), 'elapsed', world.elapsedMs, 'real', Date.now() - t0, 'queues', Object.fromEntries(Object.entries(world.queues).map(([k, q]: any) => [k, q.live])), 'backlog', world.backlog.entries.size, 'posts', world.platform.posts.length); if (Date.now() - t0 > 15000) { console.log(logs.slice(-20).join('\n'), JSON.stringify([...world.backlog.entries.values()])); console.log(JSON.stringify([...world.backlog.states]), JSON.stringify(world.breaker), world.meter.timesOf('sender'), JSON.stringify(world.queues.dispatch.live), JSON.stringify([...world.table.states.get ? [world.table.states.get('01JD0000000000000000000000')]:[]])); process.exit(1);} }, 5000);
  await world.run(3 * 24 * 3600000);
  clearInterval(timer);
  let bad = '';
  try { checkWorld(world); if (world.backlog.entries.size > 0) bad = 'waits ' + JSON.stringify([...world.backlog.entries.values()]); } catch (e: any) { bad = e.message; }
  console.log(seed, Date.now() - t0, 'ms', world.elapsedMs, 'killed', world.killedRuns, 'posts', world.platform.posts.length, bad);
  if (bad) console.log(JSON.stringify([...world.backlog.entries.values()]), 'now', world.time.nowMs, JSON.stringify([...world.backlog.states]), JSON.stringify([...world.table.states.get('01JD0000000000000000000000') ? [world.table.states.get('01JD0000000000000000000000')] : []]), world.queues.dispatch.live, world.sweeps);
  if (bad && process.argv[4]) console.log(logs.slice(-60).join('\n'));
}
process.exit(0);
