import { strToU8, zipSync } from 'fflate';
import { demo } from './demo.ts';

/** A realistic pack: one host node of the older form, and one of the newer class-based schema. */
const files = (version: string): Record<string, string> => ({
  '__init__.py': `"""Nodes to try the registry with."""
from .blend import BlendImages
from .load import LoadImage

VERSION = "${version}"
NODE_CLASS_MAPPINGS = {cls.NAME: cls for cls in (LoadImage, BlendImages)}

__all__ = ["NODE_CLASS_MAPPINGS"]
`,
  'load.py': `import folder_paths


class LoadImage:
    NAME = "${demo.hostNodeName}"
    CATEGORY = "demo/image"
    DESCRIPTION = "Loads an image from the input folder."
    FUNCTION = "load"
    RETURN_TYPES = ("IMAGE", "MASK")
    RETURN_NAMES = ("image", "mask")

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"image": (folder_paths.get_filename_list("input"), {"image_upload": True})}}

    def load(self, image):
        from PIL import Image

        picture = Image.open(folder_paths.get_annotated_filepath(image))
        return picture.convert("RGB"), picture.getchannel("A")
`,
  'blend.py': `from comfy_api.latest import io


class BlendImages(io.ComfyNode):
    NAME = "Blend Images (demo)"

    @classmethod
    def define_schema(cls):
        return io.Schema(
            node_id=cls.NAME,
            category="demo/image",
            description="Mixes two images.",
            is_experimental=True,
            inputs=[
                io.Image.Input("first"),
                io.Image.Input("second"),
                io.Float.Input("share", default=0.5, min=0.0, max=1.0, step=0.05),
            ],
            outputs=[io.Image.Output(display_name="blended")],
        )

    @classmethod
    def execute(cls, first, second, share):
        return io.NodeOutput(first * (1 - share) + second * share)
`,
  'README.md': '# Demo Node\n\nLoads an image, and blends two.\n',
});

/** A small pack as a zip, which the seed publishes and the tests upload. */
export function demoArchive(version: string): Buffer {
  return zipOf(files(version));
}

export function zipOf(texts: Record<string, string>): Buffer {
  const content = Object.entries(texts).map(([name, text]) => [name, strToU8(text)]);
  return Buffer.from(zipSync(Object.fromEntries(content), { mtime: new Date(2026, 0, 1) }));
}
