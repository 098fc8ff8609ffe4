/* What a node runs on, from texts that publishers write: `linux`, `OS Independent`, `Environment :: GPU :: NVIDIA CUDA`. */

interface Kind {
  name: string;
  pattern: RegExp;
}

export const systems: Readonly<Record<string, Kind>> = {
  linux: { name: 'Linux', pattern: /linux|independent|^any$|posix/i },
  macos: { name: 'macOS', pattern: /mac ?os|darwin|os ?x|independent|^any$/i },
  windows: { name: 'Windows', pattern: /windows|^win|independent|^any$/i },
};

export const accelerators: Readonly<Record<string, Kind>> = {
  cuda: { name: 'CUDA', pattern: /cuda|nvidia/i },
  rocm: { name: 'ROCm', pattern: /rocm|amd/i },
  mps: { name: 'MPS', pattern: /mps|metal|apple/i },
  xpu: { name: 'XPU', pattern: /xpu|intel/i },
  directml: { name: 'DirectML', pattern: /directml/i },
  npu: { name: 'NPU', pattern: /npu|ascend/i },
  cpu: { name: 'CPU', pattern: /cpu/i },
};

interface Supported {
  supported_os?: string[] | undefined;
  supported_accelerators?: string[] | undefined;
}

/** The keys of the systems and accelerators that the texts name, which a search filters by. */
export function runsOn({ supported_os = [], supported_accelerators = [] }: Supported): string[] {
  return [...keysIn(systems, supported_os), ...keysIn(accelerators, supported_accelerators)];
}

function keysIn(kinds: Readonly<Record<string, Kind>>, texts: readonly string[]): string[] {
  const last = texts.map((text) => text.split('::').at(-1)?.trim() ?? '');
  return Object.keys(kinds).filter((key) => last.some((text) => kinds[key]?.pattern.test(text)));
}

/** The texts without the groups of a classifier, and known ones by their names. */
export function shortNames(texts: readonly string[] = []): string {
  const known: typeof systems = { ...systems, ...accelerators };
  const short = texts.map((text) => text.split('::').at(-1)?.trim() || text);
  return short.map((text) => known[text.toLowerCase()]?.name ?? text).join(', ');
}
