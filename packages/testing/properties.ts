import fc from 'fast-check';

/**
 * The gate must give the same result for the same tree each time, so properties are tested with the same
 * values. `PROPERTY_SEED=<number>` uses others.
 */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });

export { fc };
