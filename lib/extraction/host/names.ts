/** Names the host offers for choice, as its release of 2026 lists them. */
export const samplers = [
  'euler', 'euler_cfg_pp', 'euler_ancestral', 'euler_ancestral_cfg_pp', 'heun', 'heunpp2', 'exp_heun_2_x0',
  'exp_heun_2_x0_sde', 'dpm_2', 'dpm_2_ancestral', 'lms', 'dpm_fast', 'dpm_adaptive', 'dpmpp_2s_ancestral',
  'dpmpp_2s_ancestral_cfg_pp', 'dpmpp_sde', 'dpmpp_sde_gpu', 'dpmpp_2m', 'dpmpp_2m_cfg_pp', 'dpmpp_2m_sde',
  'dpmpp_2m_sde_gpu', 'dpmpp_2m_sde_heun', 'dpmpp_2m_sde_heun_gpu', 'dpmpp_3m_sde', 'dpmpp_3m_sde_gpu', 'ddpm',
  'lcm', 'ipndm', 'ipndm_v', 'deis', 'res_multistep', 'res_multistep_cfg_pp', 'res_multistep_ancestral',
  'res_multistep_ancestral_cfg_pp', 'gradient_estimation', 'gradient_estimation_cfg_pp', 'er_sde', 'seeds_2',
  'seeds_3', 'sa_solver', 'sa_solver_pece', 'ddim', 'uni_pc', 'uni_pc_bh2',
] as const;

export const schedulers = [
  'simple', 'sgm_uniform', 'karras', 'exponential', 'ddim_uniform', 'beta', 'normal', 'linear_quadratic',
  'kl_optimal',
] as const;

/** The socket types that are not spelled like their constant. */
const spelled: [string, string][] = [
  ['ANY', '*'],
  ['NUMBER', 'FLOAT,INT'],
  ['PRIMITIVE', 'STRING,FLOAT,INT,BOOLEAN'],
];

const plain = [
  'STRING', 'IMAGE', 'MASK', 'LATENT', 'BOOLEAN', 'INT', 'FLOAT', 'COMBO', 'CONDITIONING', 'SAMPLER', 'SIGMAS',
  'GUIDER', 'NOISE', 'CLIP', 'CONTROL_NET', 'VAE', 'MODEL', 'LORA_MODEL', 'LOSS_MAP', 'CLIP_VISION',
  'CLIP_VISION_OUTPUT', 'STYLE_MODEL', 'GLIGEN', 'UPSCALE_MODEL', 'AUDIO', 'WEBCAM', 'POINT', 'FACE_ANALYSIS',
  'BBOX', 'SEGS', 'VIDEO',
];

export const socketTypes: ReadonlyMap<string, string> = new Map([
  ...plain.map((name): [string, string] => [name, name]),
  ...spelled,
]);

/** The classes of the newer schema with the type each stands for. */
export const schemaTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Boolean: 'BOOLEAN', Int: 'INT', Float: 'FLOAT', String: 'STRING', Combo: 'COMBO', MultiCombo: 'COMBO',
    Image: 'IMAGE', WanCameraEmbedding: 'WAN_CAMERA_EMBEDDING', Webcam: 'WEBCAM', Mask: 'MASK', Latent: 'LATENT',
    Conditioning: 'CONDITIONING', Sampler: 'SAMPLER', Sigmas: 'SIGMAS', Noise: 'NOISE', Guider: 'GUIDER',
    Clip: 'CLIP', ControlNet: 'CONTROL_NET', Vae: 'VAE', Model: 'MODEL', ClipVision: 'CLIP_VISION',
    ClipVisionOutput: 'CLIP_VISION_OUTPUT', StyleModel: 'STYLE_MODEL', Gligen: 'GLIGEN',
    UpscaleModel: 'UPSCALE_MODEL', LatentUpscaleModel: 'LATENT_UPSCALE_MODEL', Audio: 'AUDIO', Video: 'VIDEO',
    SVG: 'SVG', LoraModel: 'LORA_MODEL', LossMap: 'LOSS_MAP', Voxel: 'VOXEL', Mesh: 'MESH', Hooks: 'HOOKS',
    HookKeyframes: 'HOOK_KEYFRAMES', TimestepsRange: 'TIMESTEPS_RANGE', LatentOperation: 'LATENT_OPERATION',
    FlowControl: 'FLOW_CONTROL', Accumulation: 'ACCUMULATION', Load3DCamera: 'LOAD3D_CAMERA', Load3D: 'LOAD_3D',
    Load3DAnimation: 'LOAD_3D_ANIMATION', Photomaker: 'PHOTOMAKER', Point: 'POINT', FaceAnalysis: 'FACE_ANALYSIS',
    BBOX: 'BBOX', SEGS: 'SEGS', AnyType: '*', MODEL_PATCH: 'MODEL_PATCH', ModelPatch: 'MODEL_PATCH',
    AudioEncoder: 'AUDIO_ENCODER', AudioEncoderOutput: 'AUDIO_ENCODER_OUTPUT', Tracks: 'TRACKS',
    MultiType: 'COMFY_MULTITYPED_V3', MatchType: 'COMFY_MATCHTYPE_V3', Autogrow: 'COMFY_AUTOGROW_V3',
    DynamicCombo: 'COMFY_DYNAMICCOMBO_V3', DynamicSlot: 'COMFY_DYNAMICSLOT_V3', ImageCompare: 'IMAGECOMPARE',
    Color: 'COLOR', BoundingBox: 'BOUNDING_BOX', Curve: 'CURVE',
  }),
);

/** Inputs that only go in hidden, by the name a pack gives them. */
export const hiddenInputs: ReadonlyMap<string, string> = new Map([
  ['unique_id', 'UNIQUE_ID'],
  ['prompt', 'PROMPT'],
  ['extra_pnginfo', 'EXTRA_PNGINFO'],
  ['dynprompt', 'DYNPROMPT'],
  ['auth_token_comfy_org', 'AUTH_TOKEN_COMFY_ORG'],
  ['api_key_comfy_org', 'API_KEY_COMFY_ORG'],
]);

/** What each kind of input takes by position after its name. */
const common = ['display_name', 'optional', 'tooltip', 'lazy'];
const widget = [...common, 'default'];
export const inputParameters: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    Boolean: [...widget, 'label_on', 'label_off', 'socketless', 'force_input'],
    Int: [...widget, 'min', 'max', 'step', 'control_after_generate', 'display_mode', 'socketless', 'force_input'],
    Float: [...widget, 'min', 'max', 'step', 'round', 'display_mode', 'socketless', 'force_input'],
    String: [...common, 'multiline', 'placeholder', 'default', 'dynamic_prompts', 'socketless', 'force_input'],
    Combo: ['options', ...widget, 'control_after_generate', 'upload', 'image_folder', 'remote', 'socketless'],
    MultiCombo: ['options', ...widget, 'placeholder', 'chip', 'control_after_generate', 'socketless'],
    Webcam: [...widget, 'socketless'],
    MultiType: ['types', ...common],
    MatchType: ['template', ...common],
    Autogrow: ['template', ...common],
    DynamicCombo: ['options', ...common],
  }),
);
export const plainParameters: readonly string[] = [...common, 'extra_dict', 'raw_link'];

/** What an input's options are called in the older form, in its order. */
export const optionNames: readonly (readonly [field: string, name: string])[] = [
  ['display_name', 'display_name'],
  ['tooltip', 'tooltip'],
  ['lazy', 'lazy'],
  ['raw_link', 'rawLink'],
  ['default', 'default'],
  ['socketless', 'socketless'],
  ['widget_type', 'widgetType'],
  ['force_input', 'forceInput'],
  ['label_on', 'label_on'],
  ['label_off', 'label_off'],
  ['min', 'min'],
  ['max', 'max'],
  ['step', 'step'],
  ['round', 'round'],
  ['multiselect', 'multiselect'],
  ['options', 'options'],
  ['control_after_generate', 'control_after_generate'],
  ['display_mode', 'display'],
  ['multiline', 'multiline'],
  ['placeholder', 'placeholder'],
  ['dynamic_prompts', 'dynamicPrompts'],
  ['multi_select', 'multi_select'],
  ['chip', 'chip'],
];
