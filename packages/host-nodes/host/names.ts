/** Names of the host that packs use: its modules, and the function that lists the nodes. */
export const hostApi = 'comfy_api.';
export const hostExtras = 'comfy_extras.';
export const hostSamplers = 'comfy.samplers.';
export const hostTypes = ['comfy.comfy_types.', 'comfy.comfy_types.node_typing.'] as const;
export const entryPoint = 'comfy_entrypoint';

/** Names that the host offers as choices, from its release of 2026. */
export const samplers = listed(`
  euler euler_cfg_pp euler_ancestral euler_ancestral_cfg_pp heun heunpp2 exp_heun_2_x0 exp_heun_2_x0_sde dpm_2
  dpm_2_ancestral lms dpm_fast dpm_adaptive dpmpp_2s_ancestral dpmpp_2s_ancestral_cfg_pp dpmpp_sde
  dpmpp_sde_gpu dpmpp_2m dpmpp_2m_cfg_pp dpmpp_2m_sde dpmpp_2m_sde_gpu dpmpp_2m_sde_heun dpmpp_2m_sde_heun_gpu
  dpmpp_3m_sde dpmpp_3m_sde_gpu ddpm lcm ipndm ipndm_v deis res_multistep res_multistep_cfg_pp
  res_multistep_ancestral res_multistep_ancestral_cfg_pp gradient_estimation gradient_estimation_cfg_pp er_sde
  seeds_2 seeds_3 sa_solver sa_solver_pece ddim uni_pc uni_pc_bh2
`);

export const schedulers = listed(`
  simple sgm_uniform karras exponential ddim_uniform beta normal linear_quadratic kl_optimal
`);

const irregular: readonly [name: string, type: string][] = Object.entries({
  MultiCombo: 'COMBO',
  Load3DCamera: 'LOAD3D_CAMERA',
  Load3DModelInfo: 'LOAD3D_MODEL_INFO',
  File3DAny: 'FILE_3D',
  File3DSplatAny: 'FILE_3D_SPLAT_ANY',
  File3DPointCloudAny: 'FILE_3D_POINT_CLOUD_ANY',
  Load3D: 'LOAD_3D',
  Load3DAnimation: 'LOAD_3D_ANIMATION',
  AnyType: '*',
  MultiType: 'COMFY_MULTITYPED_V3',
  MatchType: 'COMFY_MATCHTYPE_V3',
  Autogrow: 'COMFY_AUTOGROW_V3',
  DynamicCombo: 'COMFY_DYNAMICCOMBO_V3',
  DynamicSlot: 'COMFY_DYNAMICSLOT_V3',
  ImageCompare: 'IMAGECOMPARE',
});

/** The classes of the newer schema with their types. A regular type is the class's name in capitals. */
export const schemaTypes: ReadonlyMap<string, string> = new Map([
  ...listed(`
    Boolean Int Float String Combo Image WanCameraEmbedding Webcam Mask Latent Conditioning Sampler Sigmas
    Noise Guider Clip ControlNet Vae Model ClipVision ClipVisionOutput StyleModel Gligen UpscaleModel
    LatentUpscaleModel Audio Video SVG LoraModel LossMap Voxel Mesh Hooks HookKeyframes TimestepsRange
    LatentOperation FlowControl Accumulation Photomaker Point FaceAnalysis BBOX SEGS MODEL_PATCH ModelPatch
    AudioEncoder AudioEncoderOutput Tracks Color Colors BoundingBox BoundingBoxes Curve BackgroundRemoval
    Splat Layers Compositor CameraInfoState Dict Array VideoEdit ResolutionPreview Histogram Range
  `).map((name): [string, string] => [name, name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()]),
  ...listed('GLB GLTF FBX OBJ STL USDZ PLY SPLAT SPZ KSPLAT').map((name): [string, string] => [
    `File3D${name}`,
    `FILE_3D_${name}`,
  ]),
  ...irregular,
]);

/** Inputs that get further values from the host, which are not modeled here. */
export const ownDefaults: ReadonlySet<string> = new Set(
  listed(`
    MultiCombo ImageCompare Color Colors BoundingBox BoundingBoxes CameraInfoState Curve VideoEdit ResolutionPreview
    Range Compositor
  `),
);

/** The types by their names in the older form. */
export const socketTypes: ReadonlyMap<string, string> = new Map([
  ...[...schemaTypes.values()].map((type): [string, string] => [type, type]),
  ['ANY', '*'],
  ['NUMBER', 'FLOAT,INT'],
  ['PRIMITIVE', 'STRING,FLOAT,INT,BOOLEAN'],
]);

/** Inputs that are only hidden, by the name that a pack gives them. */
export const hiddenInputs: ReadonlyMap<string, string> = new Map(
  listed(`
    unique_id prompt extra_pnginfo dynprompt auth_token_comfy_org api_key_comfy_org comfy_usage_source
    execution_list
  `).map((name) => [name, name.toUpperCase()]),
);

/** The positional parameters of each kind of input after its name. */
const common = 'display_name optional tooltip lazy';
const widget = `${common} default`;
const number = `${widget} min max step`;
const typed = 'socketless force_input';
export const inputParameters: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    Boolean: `${widget} label_on label_off ${typed}`,
    Int: `${number} control_after_generate display_mode ${typed}`,
    Float: `${number} round display_mode gradient_stops ${typed}`,
    String: `${common} multiline placeholder default dynamic_prompts ${typed}`,
    Combo: `options ${widget} control_after_generate upload image_folder remote remote_combo socketless`,
    MultiCombo: `options ${widget} placeholder chip control_after_generate socketless`,
    Webcam: `${widget} socketless`,
    MultiType: `types ${common}`,
    MatchType: `template ${common}`,
    Autogrow: `template ${common}`,
    DynamicCombo: `options ${common}`,
  }).map(([kind, names]) => [kind, listed(names)]),
);
export const plainParameters = listed(`${common} extra_dict raw_link`);

/** The fields of an input beyond the options of the older form. */
const otherFields = 'id chip optional template options types upload image_folder remote extra_dict io_type';

/** The options' names in the older form, in its order: most are the same as in the newer form. */
export const optionNames: readonly (readonly [field: string, name: string])[] = listed(`
  display_name tooltip lazy raw_link:rawLink advanced default socketless widget_type:widgetType
  force_input:forceInput label_on label_off min max step round multiselect options control_after_generate
  display_mode:display gradient_stops multiline placeholder dynamic_prompts:dynamicPrompts multi_select
`).map((entry) => {
  const [field = '', name = field] = entry.split(':');
  return [field, name];
});

/** All known fields of an input: any other may change what the host shows. */
export const inputFields: ReadonlySet<string> = new Set([
  ...optionNames.map(([field]) => field),
  ...[...inputParameters.values()].flat(),
  ...plainParameters,
  ...listed(otherFields),
]);

function listed(names: string): string[] {
  return names.trim().split(/\s+/);
}
