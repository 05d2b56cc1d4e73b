//! A picture in memory that embedded-graphics draws on.

use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Dimensions, DrawTarget, OriginDimensions, Pixel, RgbColor as _, Size};
use embedded_graphics::primitives::Rectangle;
use image::{Rgb, RgbImage};

/// A picture as embedded-graphics draws on it.
pub(crate) struct Paper<'a>(pub(crate) &'a mut RgbImage);

impl OriginDimensions for Paper<'_> {
    fn size(&self) -> Size {
        Size::new(self.0.width(), self.0.height())
    }
}

impl DrawTarget for Paper<'_> {
    type Color = Rgb888;
    type Error = std::convert::Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Self::Error> {
        let area: Rectangle = self.bounding_box();
        for Pixel(point, colour) in pixels {
            if area.contains(point) {
                let (x, y) = (point.x.cast_unsigned(), point.y.cast_unsigned());
                self.0.put_pixel(x, y, Rgb([colour.r(), colour.g(), colour.b()]));
            }
        }
        Ok(())
    }
}
